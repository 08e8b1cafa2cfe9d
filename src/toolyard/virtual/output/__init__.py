"""From a source's result to what the virtual tool returns."""
