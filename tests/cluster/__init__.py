"""Replicas that share a store: real processes, a real redis-server, a real nginx."""
