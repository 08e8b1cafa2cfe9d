"""Peers that speak one revision alone, written from its schema and from nothing of ours."""
