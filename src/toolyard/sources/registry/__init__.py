"""The registry file: servers, schemas and tools, loaded, checked and laid over."""
