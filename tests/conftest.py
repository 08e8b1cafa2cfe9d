"""What all tests share."""

import os

from hypothesis import settings

# Tests start the program hundreds of times: compiled modules are kept, inside this folder.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The same examples in every run: what chance would find now and then must not decide over a
# change. To look for more: pytest --hypothesis-profile=default
settings.register_profile("steady", derandomize=True, database=None, deadline=None)
settings.load_profile("steady")
