"""Clauses of the requirements that no other test proves, over the real program."""
