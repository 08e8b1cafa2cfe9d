"""The one seam: a Call comes in, a Channel talks back, a Result goes out.

Everything above this line knows bytes and revisions; everything below knows
tools and no wire.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from toolyard.protocol.client import UNKNOWN, Client
from toolyard.protocol.revisions import Revision
from toolyard.protocol.values import LOG_LEVELS, Json, JsonObject

__all__ = [
    "LOG_LEVELS",
    "AsTask",
    "Call",
    "Caller",
    "Channel",
    "Client",
    "Encoded",
    "Handler",
    "Json",
    "JsonObject",
    "Questions",
    "Result",
    "Session",
    "Target",
]

Questions: TypeAlias = Mapping[str, JsonObject]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A result that is already JSON text, shaped for the revision that asked."""

    body: bytes


# A result object in the newest revision's form. `resultType` may be left out for
# "complete"; with "input_required" the client is asked and the same call is made again.
Result: TypeAlias = JsonObject | Encoded


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling. Sessions, parked calls, subscriptions and credentials belong to its `id`."""

    id: str = "local"
    name: str = "local"
    claims: Mapping[str, Json] = field(default_factory=dict)


LOCAL = Caller()


class AsTask(NamedTuple):
    """The task that a call runs as: it goes on when its request is answered, or its client gone."""

    id: str
    # What it waits for, if that was begun before and runs at an upstream: its tool and id there.
    upstream: JsonObject | None = None


@dataclass(slots=True)
class Call:
    """One request with its revision peeled off. Never edited; freezing would treble its cost."""

    method: str
    params: JsonObject  # as sent, without `_meta`, `inputResponses` and `requestState`
    revision: Revision
    client: Client = UNKNOWN
    caller: Caller = LOCAL
    # `_meta` without the envelope's own keys: progressToken, trace context, vendor keys.
    meta: JsonObject = field(default_factory=dict)
    # The answers to an `input_required` result, and the state it came with (ours, opened).
    input_responses: JsonObject | None = None
    request_state: str | None = None
    # All headers, names in lower case (Mcp-Param-*); None if the transport has none.
    headers: Mapping[str, str] | None = None
    # The JSON-RPC id of the request: names a listen stream, and the call in logs.
    id: str | int | None = None
    # The lowest level of log messages that the client asked for; None if it asked for none.
    log_level: str | None = None
    task: AsTask | None = None
    # The fields of the query of the address that it came to; None if there are none.
    address: Mapping[str, str] | None = None
    # The tool of ours that it was made through; None if the client named the tool itself.
    via: str | None = None


class Session(Protocol):
    """A handshake-era client that stays connected between its calls."""

    @property
    def key(self) -> str: ...

    def notify(self, method: str, params: JsonObject) -> None: ...

    def log(self, level: str, data: Json, logger: str) -> None:
        """Send a log message that belongs to no call; dropped below the client's level."""

    async def ask(self, method: str, params: JsonObject, timeout: float) -> Json:
        """Put a question to the client outside of any call (roots after initialize)."""

    def on_close(self, callback: Callable[[], None]) -> None: ...


class Channel(Protocol):
    """How a running call reports, and asks its client.

    A subclass has no session and drops everything unless it says otherwise: the bodies below
    are meant to be inherited.
    """

    @property
    def session(self) -> Session | None:
        """The session the call arrived on; None for a modern call."""
        return None

    def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification that belongs to this call."""
        return

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report progress; dropped if the client did not ask for it."""
        return

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        """Send a log message; dropped below the level that the client asked for."""
        return

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        """Put questions (key -> {method, params}) to the client; key -> its result.

        On a session they are sent as requests; on a modern call the call is parked
        and its client comes back. Raises ProtocolError if the client cannot be asked
        (MISSING_CAPABILITY) and ToolError if it does not answer in time.
        """

    def close_stream(self) -> None:
        """End the event stream that carries this call; the client polls for the rest."""
        return


Handler: TypeAlias = Callable[[Call, Channel], Awaitable[Result]]


class Target(Protocol):
    """What does the work behind an entry.

    `arguments` are the tool's or the prompt's arguments, `{"uri": ..., **variables}`
    for a resource, and the whole params for a completion.
    """

    def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Awaitable[Result]: ...
