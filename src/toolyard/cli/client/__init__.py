"""Commands that speak to a server as its client."""
