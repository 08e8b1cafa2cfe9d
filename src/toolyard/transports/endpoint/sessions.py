"""Handshake sessions over HTTP: their streams, what is kept for replay, when they end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import takewhile
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from toolyard.http.response import Response
from toolyard.protocol.call import Caller
from toolyard.protocol.jsonrpc import RequestId
from toolyard.transports.answer import Edge
from toolyard.transports.endpoint.exchange import Reply
from toolyard.transports.endpoint.outbox import GENERAL, Outbox, parse_event_id
from toolyard.transports.endpoint.replay import Ledger, Replay
from toolyard.transports.endpoint.session_ids import PlainIds, SessionIds
from toolyard.transports.endpoint.session_keys import new_key
from toolyard.transports.sessions import HandshakeSession

if TYPE_CHECKING:
    from toolyard.transports.endpoint.keeping.session import KeptSession

_KEPT_MESSAGES = 1000


class Past(NamedTuple):
    """What is known of a session that another process had before, or whose client has its key."""

    key: str = ""
    requests: int = 0  # its own and ours: none of them had a higher number
    general: int = 0  # the same of the messages of its general stream


NONE = Past()


class HttpSession:
    """A session and its streams: one per request, and a general one for everything else."""

    def __init__(self, edge: Edge, caller: Caller, ledger: Ledger, past: Past = NONE) -> None:
        self.id = ""  # what its client calls it, once it is known
        key = past.key or new_key()
        self.handshake = HandshakeSession(edge, key, caller, self)
        self.handshake.ask_from(past.requests)
        self.general = Outbox(GENERAL, _KEPT_MESSAGES, ledger.bounds.replay_session, past.general)
        self._replies: dict[RequestId, Reply] = {}
        self._replay = Replay(ledger)
        self._count = past.requests
        self.last_used = 0.0
        self.followers = 0
        self.kept: KeptSession | None = None  # in a store, for other processes

    def open_reply(self, request_id: RequestId, response: Response) -> Reply:
        self._count += 1
        reply = Reply(response, self._count, primed=self.handshake.revision.resumable_priming)
        self._replies.setdefault(request_id, reply)
        return reply

    def close_reply(self, request_id: RequestId, reply: Reply) -> None:
        if self._replies.get(request_id) is reply:
            del self._replies[request_id]

    # -- the Outlet of its handshake session
    def send(self, message: bytes, related: RequestId | None) -> None:
        reply = self._replies.get(related) if related is not None else None
        if reply is None:
            self.general.put(message)
            return
        self._replay.keep(reply.outbox)
        if self.kept is not None and related is not None:
            self.kept.follow(reply.outbox, related)
        reply.put(message)

    def end(self, related: RequestId) -> None:
        reply = self._replies.get(related)
        if reply is not None and self.handshake.revision.resumable_priming:
            self._replay.keep(reply.outbox)
            reply.detach()

    def resume(self, event_id: str) -> tuple[Outbox, int] | None:
        """The stream that an event id belongs to, and the number to go on after."""
        position = parse_event_id(event_id)
        if position is None:
            return None
        stream, number = position
        outbox = self.general if stream == GENERAL else self._replay.find(stream)
        return (outbox, number) if outbox is not None else None

    @property
    def in_use(self) -> bool:
        return self.handshake.busy or self.followers > 0

    def close(self) -> None:
        self.handshake.close()
        self.general.close()
        self._replay.close()


class Most(NamedTuple):
    """How many sessions there may be, in all and per caller."""

    in_all: int = 10_000
    per_caller: int = 1_000


MOST = Most()


class HttpSessions:
    """All sessions, by id; only the caller that opened a session can find it."""

    def __init__(
        self,
        edge: Edge,
        most: Most = MOST,
        idle_limit: float = 3600,
        ids: SessionIds | None = None,
    ) -> None:
        self._edge = edge
        self._ids = ids or PlainIds()
        self._idle_limit = idle_limit
        self._most = most
        self.draining = False  # no session is opened any more
        self._ledger = Ledger(edge.bounds)
        self._sessions: dict[str, HttpSession] = {}
        # By caller, the least recently used first.
        self._of: dict[str, OrderedDict[str, HttpSession]] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[HttpSession]:
        return iter(tuple(self._sessions.values()))

    def open(self, caller: Caller, past: Past = NONE) -> HttpSession:
        """A session that nobody finds yet."""
        return HttpSession(self._edge, caller, self._ledger, past)

    def admit(self, session: HttpSession, session_id: str = "") -> None:
        """Give it an id, unless it has one: from now on it is found."""
        handshake = session.handshake
        self._make_room(handshake.caller)
        revision = handshake.revision if handshake.is_greeted else None
        session.id = session_id or self._ids.issue(handshake.key, handshake.caller, revision)
        session.last_used = monotonic()
        self._sessions[session.id] = session
        self._of.setdefault(handshake.caller.id, OrderedDict())[session.id] = session

    def find(self, session_id: str, caller: Caller) -> HttpSession | None:
        session = self._sessions.get(session_id)
        if session is None or session.handshake.caller.id != caller.id:
            return None
        if session.kept is not None and not session.kept.is_ours():
            return None
        session.last_used = monotonic()
        self._of[caller.id].move_to_end(session_id)
        return session

    def unconfirmed(self, session_id: str, caller: Caller) -> HttpSession | None:
        """One that we had, and of which we are not sure that it is still ours."""
        session = self._sessions.get(session_id)
        return session if session and session.handshake.caller.id == caller.id else None

    def end(self, session: HttpSession) -> None:
        """For good."""
        if session.kept is not None:
            session.kept.erase()
        self.drop(session)

    def drop(self, session: HttpSession) -> None:
        """It is over here; another process may have it."""
        self.forget(session)
        session.close()

    def forget(self, session: HttpSession) -> None:
        """Nobody finds it any more; it is to be closed."""
        if self._sessions.pop(session.id, None) is not None:
            caller = session.handshake.caller.id
            del self._of[caller][session.id]
            if not self._of[caller]:
                del self._of[caller]

    def _make_room(self, caller: Caller) -> None:
        """End sessions that have been idle for long; then, if there are still too many, one more.

        The caller's own oldest, or the oldest of whoever has most.
        """
        oldest = monotonic() - self._idle_limit
        for own in tuple(self._of.values()):
            for session in _unused(own, oldest):
                self.end(session)
        own = self._of.get(caller.id, OrderedDict())
        if len(own) >= self._most.per_caller:
            self._end_oldest(own)
        elif len(self._sessions) >= self._most.in_all:
            self._end_oldest(max(self._of.values(), key=len))

    def _end_oldest(self, own: OrderedDict[str, HttpSession]) -> None:
        """End the one that has been idle for longest; if all are in use, the oldest."""
        idle = next((session for session in own.values() if not session.in_use), None)
        self.end(idle or next(iter(own.values())))

    def end_idle(self) -> None:
        """Nothing new will come: end the streams that only wait for news."""
        for session in self:
            session.general.close()

    def close(self) -> None:
        for session in self:
            self.drop(session)


def _unused(own: OrderedDict[str, HttpSession], oldest: float) -> list[HttpSession]:
    stale = takewhile(lambda session: session.last_used < oldest, own.values())
    return [session for session in stale if not session.in_use]
