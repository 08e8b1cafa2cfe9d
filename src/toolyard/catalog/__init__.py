"""What is on offer, immutable, and who is told when it changes."""
