"""What is in deploy/, read by the programs that it is for."""
