"""Where entries come from."""
