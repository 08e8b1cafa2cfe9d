"""The composition root: from settings to something that serves."""
