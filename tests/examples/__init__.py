"""Tests of the examples: each is served by the real program."""
