"""What a script can be, and the contract with it."""
