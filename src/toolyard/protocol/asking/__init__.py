"""Questions to a client: which there are, their words in each revision, their answers."""
