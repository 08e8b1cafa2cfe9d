"""Static bearer tokens: made once, shown once, kept as a hash. Knows no file."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from toolyard.access.callers import Unauthorized
from toolyard.configuration.check import Findings, check
from toolyard.configuration.objects import shape
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


def read_tokens(
    entries: Sequence[JsonObject], place: str, pointer: str = "/tokens"
) -> tuple[StaticToken, ...]:
    """From the settings. Raises ConfigError with every problem."""
    findings = Findings(place)
    check(list(entries), shape("access", "/$defs/tokens"), findings, pointer)
    findings.close()
    names: set[str] = set()
    for i, entry in enumerate(entries):
        _check_name(entry["name"], names, findings, f"{pointer}/{i}/name")
        if entry.get("expires") is not None and _moment(entry["expires"]) is None:
            findings.problem(f"{pointer}/{i}/expires", "must be a date such as 2027-01-31")
        names.add(entry["name"])
    findings.close()
    return tuple(map(_read, entries))


def _check_name(name: str, names: Collection[str], findings: Findings, pointer: str) -> None:
    if not name.isprintable():
        findings.problem(pointer, "must not have control characters")
    elif name in names:
        findings.problem(pointer, f"two tokens are named {name!r}")


def _read(entry: JsonObject) -> StaticToken:
    globs = {kind: entry.get(kind) for kind in FAMILIES}
    if any(value is not None for value in globs.values()):
        # A token that names some things must not silently get all the others.
        globs = {kind: tuple(value or ()) for kind, value in globs.items()}
    return StaticToken(entry["name"], entry["hash"].lower(), _moment(entry.get("expires")), **globs)


def _moment(expires: Json) -> float | None:
    try:
        moment = datetime.fromisoformat(str(expires))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
