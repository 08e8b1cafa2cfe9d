"""The way to an upstream: a child's pipes, HTTP, or an event stream."""
