"""What upstreams list, kept current."""
