"""Open a connection to an upstream: pick the transport, greet, remember what worked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from toolyard.http.fetching.client import Url
from toolyard.processes.lasting import Program
from toolyard.processes.pacing import Pace
from toolyard.protocol.call import Caller, JsonObject
from toolyard.protocol.revisions import LATEST_HANDSHAKE
from toolyard.upstreams.auth import Credentials
from toolyard.upstreams.conversation.running import Owner
from toolyard.upstreams.conversation.session import UpstreamSession
from toolyard.upstreams.definition import Learnt, ServerDefinition
from toolyard.upstreams.link.greeting import Era, greet
from toolyard.upstreams.link.http import StreamableLink
from toolyard.upstreams.link.link import Link, LinkError, Lost, Refusal, TimedOut
from toolyard.upstreams.link.post import Requester
from toolyard.upstreams.link.sse import SseLink
from toolyard.upstreams.link.stdio import StdioLink
from toolyard.upstreams.setup import Setup

Heard: TypeAlias = Callable[[str, JsonObject], None]

# The order of trying, by what the definition says. Older files say "sse" for any URL.
_TRANSPORTS = {
    "stdio": ("stdio",),
    "streamablehttp": ("streamablehttp",),
    "sse": ("sse", "streamablehttp"),
    "auto": ("streamablehttp", "sse"),
}
# How a server refuses a transport that it does not know.
_UNKNOWN_TRANSPORT = (200, 400, 404, 405, 406, 415, 501)


class CannotConnect(LinkError):
    """With what the upstream said on stderr before it gave up."""

    def __init__(self, reason: str, diagnosis: str = "", cause: LinkError | None = None) -> None:
        super().__init__(reason)
        self.diagnosis = diagnosis
        self.cause = cause


class Connector:
    """Opens connections to one upstream."""

    def __init__(self, definition: ServerDefinition, setup: Setup, learnt: Learnt) -> None:
        self._definition = definition
        self._setup = setup
        self.learnt = learnt
        self._opening: dict[Link, None] = {}  # in order

    async def connect(self, owner: Owner, caller: Caller, heard: Heard) -> UpstreamSession:
        """Raises CannotConnect."""
        wants_modern = owner.revision.modern
        attempt = Attempt(self.learnt.transport or self._transports()[0], self._era(wants_modern))
        try:
            session = await self._greeted(attempt, owner, caller, heard)
        except CannotConnect as error:
            session = await self._otherwise(attempt, error, owner, caller, heard)
        self.learnt.note(wanted_modern=wants_modern, modern=session.modern)
        if not session.modern and session.peer.proposal is LATEST_HANDSHAKE:
            self.learnt.newest = session.peer.revision
        self.learnt.transport = session.link.transport
        return session

    def _era(self, wanted_modern: bool) -> Era | None:
        modern = self.learnt.speaks_modern(wanted_modern)
        return None if modern is None else "modern" if modern else "handshake"

    def _transports(self) -> tuple[str, ...]:
        return ("stdio",) if self._definition.command else _TRANSPORTS[self._definition.transport]

    async def _otherwise(
        self, former: Attempt, error: CannotConnect, owner: Owner, caller: Caller, heard: Heard
    ) -> UpstreamSession:
        """Try what else the failure leaves possible; the first error is the one that counts."""
        for attempt in self._alternatives(former, error):
            try:
                return await self._greeted(attempt, owner, caller, heard)
            except CannotConnect as failure:
                if not isinstance(failure.cause, Refusal):
                    raise
        raise error

    def _alternatives(self, former: Attempt, error: CannotConnect) -> list[Attempt]:
        if former.transport == "stdio":
            if isinstance(error.cause, Lost) and former.era != "handshake":
                # Some servers of the handshake era exit when anything precedes `initialize`.
                return [Attempt("stdio", "handshake")]
            was_upgraded = isinstance(error.cause, Refusal) and former.era == "handshake"
            return [Attempt("stdio", None)] if was_upgraded else []
        if not isinstance(error.cause, Refusal) or error.cause.status not in _UNKNOWN_TRANSPORT:
            return []
        # Another version may run there now: what worked before does not bind us.
        return [
            Attempt(transport, None)
            for transport in self._transports()
            if transport != former.transport or former.era is not None
        ]

    async def _greeted(
        self, attempt: Attempt, owner: Owner, caller: Caller, heard: Heard
    ) -> UpstreamSession:
        link = self._link(attempt.transport, caller)
        session = UpstreamSession(
            self._definition.name,
            link,
            limits=self._setup.limits,
            owner=owner,
            on_notification=heard,
            watch=self._setup.watch,
        )
        self._opening[link] = None
        try:
            await link.open(session)
            await greet(session, attempt.era_to_greet)
        except BaseException as error:
            await session.close()
            raise self._explained(error, link) from None
        finally:
            del self._opening[link]
        return session

    def diagnosis(self) -> str:
        """What the first of those that are being opened has said on stderr so far."""
        return next((link.diagnosis() for link in self._opening), "")

    def _link(self, transport: str, caller: Caller) -> Link:
        definition, setup = self._definition, self._setup
        pace = Pace(setup.limits.unrequested_rate)
        if transport == "stdio":
            name = definition.command or ""
            program = Program(name, definition.args, definition.cwd, definition.env)
            return StdioLink(program, pace, max_message=setup.limits.message, guard=setup.guard)
        try:
            url = Url.parse(definition.url or "")
        except ValueError as error:
            raise CannotConnect(str(error)) from None
        credentials = Credentials(definition, caller, setup.authorize, setup.on_challenge)
        requester = Requester(
            url, definition.headers, setup.http, credentials, setup.limits.message
        )
        return SseLink(requester, pace) if transport == "sse" else StreamableLink(requester, pace)

    def _explained(self, error: BaseException, link: Link) -> BaseException:
        if isinstance(error, TimeoutError):
            error = TimedOut(f"was not ready within {self._setup.limits.start:g} s")
        if not isinstance(error, LinkError):
            return error
        return CannotConnect(str(error), link.diagnosis(), error)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One way to connect; without an era, it is found out."""

    transport: str
    era: Era | None

    @property
    def era_to_greet(self) -> Era | None:
        # The older transport is of the handshake era by definition.
        return "handshake" if self.transport == "sse" else self.era
