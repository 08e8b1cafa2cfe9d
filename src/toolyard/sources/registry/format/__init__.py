"""Registry files: read, recognised, checked, written."""
