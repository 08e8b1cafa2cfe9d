"""What a script and its server share: environment, files, questions."""
