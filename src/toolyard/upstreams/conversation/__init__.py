"""What is said to an upstream and heard from it, once a link is open."""
