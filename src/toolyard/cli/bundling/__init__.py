"""toolyard bundle: a project as one file that desktop clients install."""
