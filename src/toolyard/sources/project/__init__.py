"""A project folder: executables, metadata, registration, the .registry cache."""
