"""Files that belong to other programs: replaced whole, or left alone."""
