"""What is known about one upstream: what the registry says, and what connecting has taught us.

Does not know how to speak to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import orjson

from toolyard.protocol.call import Caller, Json
from toolyard.protocol.codec import dumps
from toolyard.protocol.revisions import Revision

Transport = Literal["stdio", "streamablehttp", "sse", "auto"]


@dataclass(frozen=True, slots=True)
class ServerDefinition:
    """One server of a registry file, its variables filled in and its paths made absolute."""

    name: str
    description: str = ""
    command: str | None = None
    args: tuple[str, ...] = ()
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    transport: Transport = "auto"
    auth: Literal["none", "oauth"] = "none"
    # How to get a token, where `auth` is "oauth": a client, scopes, a grant for machines.
    oauth: Mapping[str, Json] = field(default_factory=dict)
    timeout: float | None = None
    expose: Literal["listed", "all"] | tuple[str, ...] = "listed"
    prefix: str = ""
    share: Literal["safe", "always"] = "safe"
    # Of a program, where several processes of ours serve: one for each worker, machine or cluster.
    copies: Literal["worker", "machine", "cluster"] = "machine"
    # Check arguments of tools that are exposed as they are, before it sees them.
    validate: bool = False
    # In place of what it tells models about itself; empty: nothing is passed on.
    instructions: str | None = None
    result_limit: int | None = None  # bytes of a result that are sent
    disabled: str | None = None  # the reason
    secrets: frozenset[str] = frozenset()  # values that came from variables

    def login_of(self, caller: Caller) -> str:
        """Connections and lists under somebody's credentials are for that caller alone.

        Empty where all callers are the same to the server.
        """
        return caller.id if self.auth == "oauth" else ""

    @property
    def identity(self) -> str:
        """The key by which identical definitions share one connection.

        A digest, so that it may name a file or stand in a log: env and headers hold secrets.
        """
        parts = (
            *(self.command, self.args, self.cwd, dict(self.env)),
            *(self.url, dict(self.headers), self.transport, self.auth, self.share),
            dict(self.oauth),
        )
        text = dumps(parts, orjson.OPT_SORT_KEYS)
        return hashlib.sha256(text).hexdigest()[:32]


@dataclass(slots=True)
class Learnt:
    """What connecting has taught us about an upstream: it is not asked twice."""

    # Whether it has that era; None while that is not known.
    modern: bool | None = None
    handshake: bool | None = None
    transport: str | None = None
    newest: Revision | None = None  # of the handshake era

    def speaks_modern(self, for_modern: bool) -> bool | None:
        """Is it spoken to in the modern era, for clients of that one or of the other?

        In the client's own where it has that. None while nobody knows.
        """
        if for_modern:
            return self.modern
        return None if self.handshake is None else not self.handshake

    def adopt(self, other: Learnt) -> None:
        """What another process has learnt, where we know nothing."""
        self.modern = other.modern if self.modern is None else self.modern
        self.handshake = other.handshake if self.handshake is None else self.handshake
        self.transport = self.transport or other.transport
        self.newest = self.newest or other.newest

    def note(self, *, wanted_modern: bool, modern: bool) -> None:
        """It was greeted for a client of one era, and this was the outcome."""
        if modern:
            self.modern = True
        else:
            self.handshake = True
        if wanted_modern and not modern:
            self.modern = False
        elif modern and not wanted_modern:
            self.handshake = False
