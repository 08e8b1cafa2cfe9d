"""JSONPath: plain paths as closures, the rest through a library."""
