"""One run of a script, from its launch until nothing of it is left."""
