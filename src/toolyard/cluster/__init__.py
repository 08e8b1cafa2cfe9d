"""Processes that serve the same together: workers of one machine, replicas behind a balancer."""
