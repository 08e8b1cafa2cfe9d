"""Work that outlives its request: running tasks, and the records of all of them."""
