"""The script server as a whole: hooks, roots, modes, the full contract, through the program."""
