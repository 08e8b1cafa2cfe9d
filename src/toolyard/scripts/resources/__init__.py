"""Resources of a project: what reads them, and what they become."""
