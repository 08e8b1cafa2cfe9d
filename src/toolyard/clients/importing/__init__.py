"""Servers of other clients taken into a registry. Reads files, starts nothing, contacts nobody."""
