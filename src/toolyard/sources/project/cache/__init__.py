"""The files in .registry/."""
