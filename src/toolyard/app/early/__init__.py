"""Answers that are given before the rest of the program is imported."""
