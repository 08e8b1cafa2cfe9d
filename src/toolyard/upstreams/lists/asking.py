"""Ask an upstream for everything it lists, all pages, only what its capabilities declare."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import NamedTuple, TypeAlias

from toolyard.catalog.listing import Listing
from toolyard.errors import METHOD_NOT_FOUND, ProtocolError
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.client import told_in
from toolyard.protocol.eras.headers import header_parameters
from toolyard.protocol.kinds import SPELLED
from toolyard.telemetry import logger
from toolyard.upstreams.conversation.session import UpstreamSession

log = logger("upstreams")
MAX_PAGES = 1000
Ask: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]


class Pages(NamedTuple):
    """All pages of one list."""

    items: tuple[JsonObject, ...]
    lasts: float | None  # the shortest time that a page is said to hold, in seconds


async def fetch(session: UpstreamSession, capabilities: JsonObject | None = None) -> Listing:
    """What is listed to clients that can do this.

    Raises a LinkError when it cannot be reached; a list that it refuses is empty.
    """
    entries: dict[str, tuple[JsonObject, ...]] = {}
    times: list[float] = []
    problems = []
    ask = partial(session.request_as, told_in(session.peer.revision, capabilities or {}))
    for kind, spelling in SPELLED.items():
        if not session.peer.offers(spelling.family):
            continue
        try:
            entries[kind], lasts = await _all_pages(
                session, partial(ask, spelling.method), spelling.key
            )
            times += [] if lasts is None else [lasts]
        except ProtocolError as error:
            if error.code != METHOD_NOT_FOUND:
                problems.append(f"{spelling.method}: {error.message}")
    if session.modern and session.link.transport != "stdio":
        entries["tools"] = tuple(
            tool for tool in entries.get("tools", ()) if _callable(session, tool)
        )
    return Listing(
        server=session.server,
        capabilities=session.peer.capabilities,
        revision=session.peer.revision.date,
        info=session.peer.info,
        instructions=session.peer.instructions,
        error="; ".join(problems) or None,
        lasts=min(times, default=None),
        **entries,
    )


async def _all_pages(session: UpstreamSession, ask: Ask, key: str) -> Pages:
    items: list[JsonObject] = []
    times: list[float] = []
    cursor: Json = None
    cursors: set[str] = set()
    for _ in range(MAX_PAGES):
        page = await ask({} if cursor is None else {"cursor": cursor})
        entries = page.get(key)
        items += (
            [item for item in entries if isinstance(item, dict)]
            if isinstance(entries, list)
            else []
        )
        times += _time_of(page) if session.modern else []
        if len(items) > session.limits.entries:
            del items[session.limits.entries :]
            log.warning("%s: lists more than %d %s", session.server, len(items), key)
            break
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or cursor in cursors:
            break
        cursors.add(cursor)
    return Pages(tuple(items), min(times, default=None))


def _time_of(page: JsonObject) -> list[float]:
    """Nothing where it does not say, or says that no time is promised."""
    ttl = page.get("ttlMs")
    if not isinstance(ttl, int | float) or isinstance(ttl, bool) or ttl <= 0:
        return []
    return [ttl / 1000]


def _callable(session: UpstreamSession, tool: JsonObject) -> bool:
    """A tool whose header annotations are invalid cannot be called over HTTP."""
    try:
        header_parameters(tool.get("inputSchema"))
    except ValueError as error:
        log.warning("%s: left out the tool %r: %s", session.server, tool.get("name"), error)
        return False
    return True
