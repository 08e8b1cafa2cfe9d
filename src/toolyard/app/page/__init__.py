"""The page over what is served: what it may see and do, of our own program or another gateway."""
