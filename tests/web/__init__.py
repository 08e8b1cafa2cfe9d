"""The page and its API, against the real program and a real browser."""
