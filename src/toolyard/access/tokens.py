"""Static bearer tokens: made once, shown once, kept as a hash. Knows no file."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from toolyard.access.callers import Unauthorized
from toolyard.errors import ConfigError
from toolyard.protocol.call import Caller, Json, JsonObject
from toolyard.protocol.kinds import FAMILIES

PREFIX = "ty_"
_HASH = "sha256:"


@dataclass(frozen=True, slots=True)
class StaticToken:
    """One entry of `tokens`. None: everything; an empty tuple: nothing of that kind."""

    name: str
    hash: str
    expires: float | None = None
    tools: tuple[str, ...] | None = None
    resources: tuple[str, ...] | None = None
    prompts: tuple[str, ...] | None = None

    @property
    def caller_id(self) -> str:
        return f"token:{self.name}"

    @property
    def narrows(self) -> bool:
        return any(part is not None for part in (self.tools, self.resources, self.prompts))


def new_token() -> str:
    """32 random bytes: a fast hash of it is safe to keep."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    return _HASH + hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


class StaticTokens:
    """Finds the caller behind a token."""

    def __init__(self, tokens: Iterable[StaticToken]) -> None:
        self._known = {
            token.hash: (token.expires, Caller(token.caller_id, token.name)) for token in tokens
        }

    def caller(self, token: str) -> Caller | None:
        """None for a token that is not ours. Raises Unauthorized for one that has expired."""
        entry = self._known.get(hash_of(token))
        if entry is None:
            return None
        expires, caller = entry
        if expires is not None and time.time() >= expires:
            raise Unauthorized('Bearer error="invalid_token", error_description="expired"')
        return caller


def read_tokens(entries: Sequence[JsonObject], place: str) -> tuple[StaticToken, ...]:
    """From the settings. Raises ConfigError."""
    tokens = tuple(_read(entry, place, f"/tokens/{i}") for i, entry in enumerate(entries))
    names = [token.name for token in tokens]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ConfigError.at(place, f"two tokens are named {name!r}", f"/tokens/{i}/name")
    return tokens


def _read(entry: Mapping[str, Json], place: str, pointer: str) -> StaticToken:
    keys = {"name", "hash", "expires", *FAMILIES}
    for key in entry:
        if key not in keys:
            raise ConfigError.at(place, f"unknown key {key!r}", f"{pointer}/{key}")
    name, digest = entry.get("name"), entry.get("hash")
    if not isinstance(name, str) or not name or not name.isprintable():
        raise ConfigError.at(place, "a token needs a name", f"{pointer}/name")
    if not isinstance(digest, str) or not digest.startswith(_HASH) or len(digest) != 71:
        why = "expected sha256: and 64 hexadecimal digits; `toolyard token new` makes them"
        raise ConfigError.at(place, why, f"{pointer}/hash")
    globs = {kind: _globs(entry, kind, place, pointer) for kind in FAMILIES}
    if any(value is not None for value in globs.values()):
        # A token that names some things must not silently get all the others.
        globs = {kind: () if value is None else value for kind, value in globs.items()}
    return StaticToken(name, digest.lower(), _expiry(entry, place, pointer), **globs)


def _globs(
    entry: Mapping[str, Json], kind: str, place: str, pointer: str
) -> tuple[str, ...] | None:
    value = entry.get(kind)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(glob, str) for glob in value):
        raise ConfigError.at(place, "expected a list of patterns", f"{pointer}/{kind}")
    return tuple(value)


def _expiry(entry: Mapping[str, Json], place: str, pointer: str) -> float | None:
    value = entry.get("expires")
    if value is None:
        return None
    try:
        when = datetime.fromisoformat(str(value))
    except ValueError:
        raise ConfigError.at(
            place, "expected a date such as 2027-01-31", f"{pointer}/expires"
        ) from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
