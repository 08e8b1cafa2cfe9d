"""Tools composed of other tools."""
