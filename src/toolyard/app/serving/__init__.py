"""Serving what was built, over stdio or HTTP, until the end, and what is answered beside it."""
