"""What was approved, and what has changed since."""
