"""Commands about credentials: ours at other servers, and those of our callers."""
