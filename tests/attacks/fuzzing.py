"""Feed examples to something until the time is over, and count them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

T = TypeVar("T")
# In all: hours on request, FUZZ_SECONDS=7200.
SECONDS = float(os.environ.get("FUZZ_SECONDS", "48"))
TARGETS = 6
A_ROUND = 60


def fed(strategy: st.SearchStrategy[T], act: Callable[[T], int]) -> int:
    """How many inputs there were: `act` says how many each example held."""
    end = time.monotonic() + SECONDS / TARGETS
    count = 0

    @given(strategy)
    @settings(
        max_examples=A_ROUND,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    def one_round(example: T) -> None:
        nonlocal count
        count += act(example)

    while time.monotonic() < end:
        one_round()
    return count
