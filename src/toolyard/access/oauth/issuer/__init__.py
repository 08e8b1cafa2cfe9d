"""An authorization server: found, what it publishes, as whom it knows us, its tokens."""
