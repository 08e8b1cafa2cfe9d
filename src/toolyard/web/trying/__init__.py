"""Calls that the page starts."""
