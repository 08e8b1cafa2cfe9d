"""The cluster key: long enough, changed without a gap; what it seals opens nowhere else."""

from __future__ import annotations

import pytest

from toolyard.errors import ConfigError
from toolyard.store.keys import ClusterKeys, read_cluster_keys
from toolyard.store.seal import Unopened

OLD, NEW = "o" * 32, "n" * 32


def keys(*given: str) -> ClusterKeys:
    return read_cluster_keys(given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((), "TOOLYARD_CLUSTER_KEY: a store needs it, the same on every replica"),
        (("short",), "the key has 5 bytes, and needs 32 or more"),
        ((OLD, "short"), "key 2 has 5 bytes"),
        ((OLD, NEW, OLD), "holds 3 keys, and at most 2 may be listed"),
    ],
)
def test_a_key_that_will_not_do_is_refused_with_a_sentence(
    given: tuple[str, ...], says: str
) -> None:
    with pytest.raises(ConfigError, match=says) as refused:
        read_cluster_keys(given)
    assert "short" not in str(refused.value)


def test_a_key_is_changed_without_a_gap() -> None:
    """Replicas get the keys one after the other: each opens what any of them has sealed."""
    for before, after in (
        (keys(OLD), keys(OLD, NEW)),
        (keys(OLD, NEW), keys(NEW, OLD)),
        (keys(NEW, OLD), keys(NEW)),
    ):
        for one, other in ((before, after), (after, before)):
            sealed = one.seal("session").close(b"value", b"")
            assert other.seal("session").open(sealed, b"") == b"value"


@pytest.mark.parametrize(
    ("purpose", "bound", "key"),
    [("login", b"a", OLD), ("session", b"b", OLD), ("session", b"a", NEW)],
)
def test_what_is_sealed_opens_for_nothing_else(purpose: str, bound: bytes, key: str) -> None:
    sealed = keys(OLD).seal("session").close(b"value", b"a")
    with pytest.raises(Unopened):
        keys(key).seal(purpose).open(sealed, bound)


def test_what_was_changed_or_cut_does_not_open() -> None:
    seal = keys(OLD).seal("session")
    sealed = seal.close(b"value", b"")
    for other in (b"", sealed[:5], sealed[:-1], sealed[:-1] + bytes([sealed[-1] ^ 1])):
        with pytest.raises(Unopened):
            seal.open(other, b"")


def test_a_fingerprint_tells_keys_apart_and_does_not_hold_them() -> None:
    assert keys(OLD, NEW).fingerprints == (*keys(OLD).fingerprints, *keys(NEW).fingerprints)
    assert keys(OLD).fingerprints != keys(NEW).fingerprints
    assert OLD not in repr(keys(OLD)) and OLD not in str(keys(OLD).fingerprints)
