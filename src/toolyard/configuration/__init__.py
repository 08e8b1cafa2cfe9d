"""What each configuration object may say: its JSON Schema, and the one check against it."""
