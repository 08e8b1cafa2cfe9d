"""As whom we call other servers: OAuth 2.1, as its client."""
