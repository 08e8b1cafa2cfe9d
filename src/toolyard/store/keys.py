"""The key of a cluster: what all its processes seal with, and how they know each other.

Two may be given, to change it without a gap: first every process gets `OLD NEW`, then every
one `NEW OLD`, then `NEW`. What the first one seals, all of them open.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

from toolyard.errors import ConfigError
from toolyard.store.seal import Seal

VARIABLE = "TOOLYARD_CLUSTER_KEY"
LEAST, MOST = 32, 2
_MAKE_ONE = "make one with `openssl rand -hex 32`"


@dataclass(frozen=True, slots=True)
class ClusterKeys:
    secrets: tuple[bytes, ...]

    def __repr__(self) -> str:
        return f"ClusterKeys({len(self.secrets)})"

    def seal(self, purpose: str) -> Seal:
        """What is sealed for one purpose does not open for another."""
        return Seal([_derived(secret, f"seal {purpose}") for secret in self.secrets])

    def proofs(self, purpose: str, message: bytes) -> tuple[bytes, ...]:
        """What only a holder of a key can say about a message: with each of them, 32 bytes."""
        keys = (_derived(secret, f"proof {purpose}") for secret in self.secrets)
        return tuple(hmac.digest(key, message, hashlib.sha256) for key in keys)

    def token(self, purpose: str) -> str:
        """A secret that all processes come to by themselves, and may show to a person."""
        return _derived(self.secrets[0], f"token {purpose}").hex()[:32]

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """May be shown: tells keys apart and says nothing about them."""
        return tuple(_derived(secret, "fingerprint").hex()[:12] for secret in self.secrets)


def read_cluster_keys(given: Sequence[str]) -> ClusterKeys:
    """Raises ConfigError."""
    if not given:
        raise ConfigError.at(VARIABLE, f"a store needs it, the same on every replica: {_MAKE_ONE}")
    if len(given) > MOST:
        raise ConfigError.at(VARIABLE, f"holds {len(given)} keys, and at most {MOST} may be listed")
    for number, key in enumerate(given, 1):
        if len(key.encode()) < LEAST:
            which = f"key {number}" if len(given) > 1 else "the key"
            said = f"{which} has {len(key.encode())} bytes, and needs {LEAST} or more: {_MAKE_ONE}"
            raise ConfigError.at(VARIABLE, said)
    return ClusterKeys(tuple(key.encode() for key in given))


def _derived(secret: bytes, purpose: str) -> bytes:
    return hmac.digest(secret, f"toolyard {purpose}".encode(), hashlib.sha256)
