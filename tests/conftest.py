"""What all tests share."""

import os

# Tests start the program hundreds of times: compiled modules are kept, inside this folder.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
