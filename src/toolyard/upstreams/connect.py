"""Open a connection to an upstream: pick the transport, greet, remember what worked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from toolyard.protocol.call import Caller, JsonObject
from toolyard.upstreams.child import Command
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.greeting import Era, greet
from toolyard.upstreams.link import Link, LinkError, Lost, Refused, TimedOut
from toolyard.upstreams.running import Limits, Owner
from toolyard.upstreams.session import UpstreamSession
from toolyard.upstreams.stdio import StdioLink

Heard: TypeAlias = Callable[[str, JsonObject], None]


class CannotConnect(LinkError):
    """With what the upstream said on stderr before it gave up."""

    def __init__(self, reason: str, diagnosis: str = "") -> None:
        super().__init__(reason)
        self.diagnosis = diagnosis


@dataclass(slots=True)
class Learnt:
    """What connecting has taught us about an upstream: it is not asked twice."""

    era: Era | None = None
    transport: str | None = None


class Connector:
    """Opens connections to one upstream."""

    def __init__(self, definition: ServerDefinition, limits: Limits, learnt: Learnt) -> None:
        self._definition = definition
        self._limits = limits
        self.learnt = learnt

    async def connect(self, owner: Owner, caller: Caller, heard: Heard) -> UpstreamSession:
        try:
            session = await self._greeted(owner, caller, heard, self.learnt.era)
        except _EndedByProbe:
            # Some servers of the handshake era exit when anything precedes `initialize`.
            session = await self._greeted(owner, caller, heard, "handshake")
        except _Changed:
            session = await self._greeted(owner, caller, heard, None)
        self.learnt.era = "modern" if session.modern else "handshake"
        self.learnt.transport = session.link.transport
        return session

    async def _greeted(
        self, owner: Owner, caller: Caller, heard: Heard, era: Era | None
    ) -> UpstreamSession:
        link = self._link(caller)
        session = UpstreamSession(
            self._definition.name, link, limits=self._limits, owner=owner, on_notification=heard
        )
        try:
            await link.open()
            await greet(session, era)
        except BaseException as error:
            await session.close()
            raise self._explained(error, link, era) from None
        return session

    def _link(self, caller: Caller) -> Link:
        definition = self._definition
        assert definition.command is not None
        return StdioLink(
            Command(definition.command, definition.args, definition.cwd, definition.env)
        )

    def _explained(self, error: BaseException, link: Link, era: Era | None) -> BaseException:
        if isinstance(error, TimeoutError):
            error = TimedOut(f"was not ready within {self._limits.start:g} s")
        if not isinstance(error, LinkError):
            return error
        if isinstance(error, Lost) and era is None and link.transport == "stdio":
            return _EndedByProbe(str(error), link.diagnosis())
        if isinstance(error, Refused) and era is not None:
            return _Changed(str(error), link.diagnosis())
        return CannotConnect(str(error), link.diagnosis())


class _EndedByProbe(CannotConnect):
    pass


class _Changed(CannotConnect):
    """It does not answer the greeting that used to work: another version may run there now."""
