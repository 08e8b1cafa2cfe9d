"""What the page shows, as JSON."""
