"""Subscriptions: on a session (subscribe, unsubscribe) and on a modern listen stream."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from toolyard.catalog.announcer import Listener
from toolyard.catalog.entries import Resource, Template
from toolyard.catalog.snapshot import Catalog
from toolyard.errors import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RATE_LIMITED,
    ProtocolError,
    ToolError,
)
from toolyard.methods.offer import Offer
from toolyard.methods.resources import find, is_known, uri_of
from toolyard.protocol.call import Call, Caller, Channel, Json, JsonObject, Result, Session
from toolyard.protocol.eras.keys import SUBSCRIPTION_ID
from toolyard.protocol.guise import guise_of
from toolyard.protocol.kinds import RESOURCE_UPDATED, SPELLED
from toolyard.telemetry import logger

if TYPE_CHECKING:
    from toolyard.methods.tasks import TaskMethods

log = logger("subscriptions")
MOST_SUBSCRIPTIONS = 1000
TASK_CHANGED = "notifications/tasks"
_FILTERS = {spelling.filter: spelling.changed for spelling in SPELLED.values()}


class _ListenStream:
    """A listen stream. Its client is told what is watched only once all of it is."""

    def __init__(self, channel: Channel, tag: JsonObject) -> None:
        self._channel = channel
        self._tag = tag
        self._early: list[tuple[str, JsonObject]] | None = []

    def open(self, filters: JsonObject) -> None:
        """Say what is watched, and then what has happened in the meantime."""
        early, self._early = self._early or [], None
        self.say("notifications/subscriptions/acknowledged", {"notifications": filters})
        for method, params in early:
            self.say(method, params)

    def say(self, method: str, params: JsonObject) -> None:
        if self._early is not None:
            self._early.append((method, params))
            return
        meta = {**params.get("_meta", {}), **self._tag}
        self._channel.notify(method, {**params, "_meta": meta})


@runtime_checkable
class Watched(Protocol):
    """A target that knows when what it reads has changed."""

    async def watch(
        self, arguments: JsonObject, call: Call, changed: Callable[[], None]
    ) -> None: ...


@runtime_checkable
class Guarded(Protocol):
    """A target that does not let everything be watched."""

    def admit(self, arguments: JsonObject) -> None:
        """Raises ProtocolError if this may not be watched."""


@runtime_checkable
class Tells(Protocol):
    """A target that is told by its server when what it reads has changed."""

    async def subscribe(
        self, arguments: JsonObject, call: Call, channel: Channel, changed: Callable[[], None]
    ) -> Callable[[], None]: ...


@dataclass(slots=True)
class UriWatch:
    """One URI that somebody listens to, and the task that watches it."""

    task: asyncio.Task[None]
    holders: int


class Room:
    """How many subscriptions each caller has, and may have."""

    def __init__(self, most: int = MOST_SUBSCRIPTIONS) -> None:
        self.most = most
        self._counts: Counter[str] = Counter()

    def enter(self, caller: Caller) -> Callable[[], None]:
        """Raises ProtocolError if there is none; call what is returned to leave."""
        if self._counts[caller.id] >= self.most:
            raise self.full()
        self._counts[caller.id] += 1
        return partial(self._leave, caller.id)

    def full(self) -> ProtocolError:
        why = f"Too many subscriptions: at most {self.most} at the same time"
        return ProtocolError(RATE_LIMITED, why)

    def _leave(self, caller: str) -> None:
        self._counts[caller] -= 1
        if not self._counts[caller]:
            del self._counts[caller]


class Topic(NamedTuple):
    """A resource that somebody wants to be told of."""

    uri: str
    entry: Resource | Template
    arguments: JsonObject


@dataclass(slots=True)
class SubscriptionMethods:
    """Who listens to what, and the watches that are kept for them."""

    offer: Offer
    room: Room = field(default_factory=Room)
    tasks: Callable[[], TaskMethods] | None = None
    watches: dict[tuple[str, str], UriWatch] = field(default_factory=dict)
    sessions: dict[str, dict[str, Callable[[], None]]] = field(default_factory=dict)
    closing: asyncio.Event = field(default_factory=asyncio.Event)

    async def initialized(self, call: Call, channel: Channel) -> Result:
        """A session that is ready is told of every list that changes."""
        session = channel.session
        if session is not None:
            if call.revision.list_changed:
                guise = guise_of(call.revision, call.client)
                listener = self.offer.heard_by(call, _lists_only(session))
                session.on_close(self.offer.keeper.announcer.join(listener, guise))
            session.on_close(lambda: self._forget(session.key))
        return {}

    async def subscribe(self, call: Call, channel: Channel) -> Result:
        session = _session(channel)
        topic = await self._topic(call, channel)
        uri = topic.uri
        ends = self.sessions.setdefault(session.key, {})
        if uri not in ends:
            end = await self._hold(topic, call, channel, _one_uri(session, uri))
            if uri in ends or self.sessions.get(session.key) is not ends:
                end()  # another request was faster, or the session is over
            else:
                ends[uri] = end
        if topic.entry.origin.source == "project":
            session.notify(RESOURCE_UPDATED, {"uri": uri})  # as mcp-bash does
        return {"subscriptionId": subscription_id(session.key, uri)}

    async def unsubscribe(self, call: Call, channel: Channel) -> Result:
        """By `uri`, or by the `subscriptionId` that subscribe answered with."""
        session = _session(channel)
        ends = self.sessions.get(session.key, {})
        own_uri, ticket = call.params.get("uri"), call.params.get("subscriptionId")
        if not isinstance(own_uri, str) and not isinstance(ticket, str):
            raise ProtocolError(INVALID_PARAMS, "uri or subscriptionId required")
        for uri in tuple(ends):
            if uri == own_uri or subscription_id(session.key, uri) == ticket:
                ends.pop(uri)()
        return {}

    async def listen(self, call: Call, channel: Channel) -> Result:
        """Stay open and pass on what was asked for, until the client or the server ends it."""
        filters = _filters_in(call.params.get("notifications"))
        tag = {SUBSCRIPTION_ID: call.id}
        granted_filters, uris = await self._honour(call, channel, filters)
        methods = {_FILTERS[name] for name in granted_filters if name in _FILTERS}
        stream = _ListenStream(channel, tag)

        def hear(method: str, params: JsonObject) -> None:
            if method in methods or (method == RESOURCE_UPDATED and params.get("uri") in uris):
                stream.say(method, params)

        guise = guise_of(call.revision, call.client)
        listener = self.offer.heard_by(call, hear)
        leave = [self.room.enter(call.caller), self.offer.keeper.announcer.join(listener, guise)]
        try:
            for topic in uris.values():
                leave.append(await self._hold(topic, call, channel, hear, hears_all=True))
            if "taskIds" in filters and self.tasks is not None:
                tell = partial(stream.say, TASK_CHANGED)
                watching = await self.tasks().watch(call, filters["taskIds"], tell)
                leave.append(watching.leave)
                granted_filters["taskIds"] = watching.ids
            stream.open(granted_filters)
            await self.closing.wait()
        finally:
            _call_all(leave)
        return {"_meta": tag}

    async def _honour(
        self, call: Call, channel: Channel, filters: JsonObject
    ) -> tuple[JsonObject, dict[str, Topic]]:
        granted_filters: JsonObject = {name: True for name in _FILTERS if filters.get(name) is True}
        items = self._uris_in(filters.get("resourceSubscriptions"))
        requested_uris = [uri for uri in items if isinstance(uri, str)]
        if not requested_uris:
            return granted_filters, {}  # nothing to wait for

        def has_all(catalog: Catalog) -> bool:
            return all(catalog.find_resource(uri) is not None for uri in requested_uris)

        catalog = await self.offer.having(has_all, call, channel)
        watchable = [uri for uri in requested_uris if _may_be_watched(catalog, uri)]
        uris = {uri: Topic(uri, *find(catalog, uri)) for uri in watchable}
        if uris:
            granted_filters["resourceSubscriptions"] = list(uris)
        return granted_filters, uris

    def _uris_in(self, uris: Json) -> list[Json]:
        if uris is None:
            return []
        if not isinstance(uris, list):
            raise ProtocolError(INVALID_PARAMS, "resourceSubscriptions must be an array")
        if len(uris) > self.room.most:
            raise self.room.full()
        return uris

    async def _topic(self, call: Call, channel: Channel) -> Topic:
        catalog = await self.offer.having(partial(is_known, call), call, channel)
        uri = uri_of(call, catalog)
        return Topic(uri, *find(catalog, uri))

    async def _hold(
        self,
        topic: Topic,
        call: Call,
        channel: Channel,
        hear: Listener,
        *,
        hears_all: bool = False,
    ) -> Callable[[], None]:
        """Tell `hear` of changes until what this returns is called. Raises ProtocolError.

        `hears_all`: it gets all announcements already.
        """
        _admit(topic.entry, topic.arguments)
        leave = [self.room.enter(call.caller)]
        if not hears_all:
            leave.append(self.offer.keeper.announcer.join(hear))
        try:
            leave.append(await self._begin(topic, call, channel, hear))
        except BaseException:
            _call_all(leave)
            raise
        return partial(_call_all, leave)

    async def _begin(
        self, topic: Topic, call: Call, channel: Channel, hear: Listener
    ) -> Callable[[], None]:
        target, uri = topic.entry.target, topic.uri
        if isinstance(target, Tells):
            tell = partial(hear, RESOURCE_UPDATED, {"uri": uri})
            try:
                return await target.subscribe(topic.arguments, call, channel, tell)
            except ToolError as error:
                log.warning("watching %s ended: %s", uri, error)
                return lambda: None
        return await self._watch(topic, call)

    async def _watch(self, topic: Topic, call: Call) -> Callable[[], None]:
        """Keep one watch per URI and caller while anybody listens."""
        key = (call.caller.id, topic.uri)
        watch = self.watches.get(key)
        if watch is None:
            work = self._look_after(topic.entry, topic.arguments, call)
            task = asyncio.get_running_loop().create_task(work)
            watch = self.watches[key] = UriWatch(task, holders=0)
        watch.holders += 1
        try:
            # The watch looks first: a change right after our answer must not be missed.
            await asyncio.sleep(0)
        except BaseException:
            self._release(key)
            raise
        return partial(self._release, key)

    def _release(self, key: tuple[str, str]) -> None:
        watch = self.watches.get(key)
        if watch is None:
            return
        watch.holders -= 1
        if watch.holders == 0:
            watch.task.cancel()
            del self.watches[key]

    async def _look_after(
        self, entry: Resource | Template, arguments: JsonObject, call: Call
    ) -> None:
        if not isinstance(entry.target, Watched):
            return
        uri = arguments["uri"]
        try:
            await entry.target.watch(
                arguments, call, lambda: self.offer.keeper.announcer.updated(uri)
            )
        except Exception as error:
            log.warning("watching %s ended: %s", uri, error)

    def _forget(self, key: str) -> None:
        for end in self.sessions.pop(key, {}).values():
            end()

    async def close(self) -> None:
        """End every listen stream with its final result, and every watch."""
        self.closing.set()
        for watch in self.watches.values():
            watch.task.cancel()


def _call_all(ends: Iterable[Callable[[], None]]) -> None:
    for end in ends:
        end()


def _admit(entry: Resource | Template, arguments: JsonObject) -> None:
    if isinstance(entry.target, Guarded):
        entry.target.admit(arguments)


def subscription_id(session_key: str, uri: str) -> str:
    return hashlib.sha256(f"{session_key}\n{uri}".encode()).hexdigest()[:24]


def _may_be_watched(catalog: Catalog, uri: str) -> bool:
    try:
        _admit(*find(catalog, uri))
    except ProtocolError:
        return False
    return True


def _session(channel: Channel) -> Session:
    if channel.session is None:
        raise ProtocolError(METHOD_NOT_FOUND, "Method not found")
    return channel.session


def _filters_in(value: Json) -> JsonObject:
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_PARAMS, "notifications must be an object")
    return value


def _lists_only(session: Session) -> Callable[[str, JsonObject], None]:
    def hear(method: str, params: JsonObject) -> None:
        if method != RESOURCE_UPDATED:
            session.notify(method, params)

    return hear


def _one_uri(session: Session, uri: str) -> Callable[[str, JsonObject], None]:
    def hear(method: str, params: JsonObject) -> None:
        if method == RESOURCE_UPDATED and params.get("uri") == uri:
            session.notify(method, params)

    return hear
