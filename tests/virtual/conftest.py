"""Property tests leave no files behind and never fail on a slow machine."""

from hypothesis import settings

settings.register_profile(
    "toolyard", derandomize=True, database=None, deadline=None, max_examples=60
)
settings.load_profile("toolyard")
