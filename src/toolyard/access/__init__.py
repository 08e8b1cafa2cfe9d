"""Who is calling, and as whom we call."""
