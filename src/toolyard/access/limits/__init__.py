"""How often, and how many at once, a caller may call; counted here, on a machine, or over all."""
