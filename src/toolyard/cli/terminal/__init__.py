"""What a person at a terminal sees: colour, and a line that moves."""
