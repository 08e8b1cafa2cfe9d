"""Ids of tasks: nobody can guess one, and only its caller can use it.

Half of an id is random, half proves that we gave it to this caller. An invented id and somebody
else's are refused by the same comparison, before anything is looked up.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from collections.abc import Sequence

_BYTES, _HALF = 16, 22  # of each half, and its letters


def new_id(key: bytes, caller: str) -> str:
    """Never with a dash in front: people name tasks on command lines."""
    chance = _text(os.urandom(_BYTES))
    while chance.startswith("-"):
        chance = _text(os.urandom(_BYTES))
    return chance + _proof(key, chance, caller)


def belongs(keys: Sequence[bytes], task_id: str, caller: str) -> bool:
    """Did we give this id to this caller? Takes as long for each id that we did not."""
    proof = task_id[_HALF:].encode("utf-8", "replace")
    proofs = (_proof(key, task_id[:_HALF], caller).encode() for key in keys)
    return any(hmac.compare_digest(right, proof) for right in proofs)


def _proof(key: bytes, chance: str, caller: str) -> str:
    said = f"{chance}\n{caller}".encode("utf-8", "replace")
    return _text(hmac.digest(key, said, hashlib.sha256)[:_BYTES])


def _text(chance: bytes) -> str:
    return base64.urlsafe_b64encode(chance).rstrip(b"=").decode()
