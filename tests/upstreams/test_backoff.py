"""When a failing upstream may be tried again."""

from __future__ import annotations

from toolyard.telemetry import masked
from toolyard.upstreams.backoff import MOST, Backoff


def test_the_first_restart_after_a_crash_is_immediate_and_later_ones_wait_longer() -> None:
    backoff = Backoff(dice=lambda: 1.0)
    waits = []
    for _ in range(5):
        backoff.crashed(100.0)
        waits.append(backoff.left(100.0))
    assert waits == [0.0, 0.5, 1.0, 2.0, 4.0]


def test_what_could_not_start_waits_at_once_and_never_for_ever() -> None:
    backoff = Backoff(dice=lambda: 1.0)
    backoff.refused(0.0)
    assert backoff.left(0.0) == 0.5
    for _ in range(50):
        backoff.refused(0.0)
    assert backoff.left(0.0) == MOST
    backoff.worked()
    assert backoff.left(0.0) == 0.0


def test_waits_are_scattered_between_half_and_whole() -> None:
    low, high = Backoff(dice=lambda: 0.0), Backoff(dice=lambda: 1.0)
    for backoff in (low, high):
        backoff.refused(0.0)
    assert (low.left(0.0), high.left(0.0)) == (0.25, 0.5)


def test_longer_secrets_are_masked_before_those_they_contain() -> None:
    assert masked("token=abcd1234 abcd", {"abcd", "abcd1234", "t"}) == "token=*** ***"
