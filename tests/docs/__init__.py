"""Tests that the documents tell the truth about the code."""
