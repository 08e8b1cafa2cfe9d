"""Registry files, edited from the page."""
