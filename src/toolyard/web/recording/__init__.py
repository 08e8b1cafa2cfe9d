"""The last calls, kept for whoever looks."""
