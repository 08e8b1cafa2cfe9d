"""Commands for a project: make, check, pack it."""
