"""What a model reads: the pure parts."""
