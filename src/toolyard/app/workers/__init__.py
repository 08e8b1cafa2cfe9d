"""Several processes behind one address, and what they share."""
