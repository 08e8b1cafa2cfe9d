"""The official conformance suite, run against whatever answers at a URL."""
