"""From a registry's entries to what clients see."""
