"""The explorer and tester page, and its API."""
