"""Find out which era an upstream speaks, and greet it in its own way. Knows no transport."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Literal, TypeAlias

from toolyard.errors import (
    HEADER_MISMATCH,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    UNSUPPORTED_REVISION,
    ProtocolError,
    UpstreamError,
)
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.eras.keys import SERVER_INFO
from toolyard.protocol.revisions import HANDSHAKE, LATEST, LATEST_HANDSHAKE, MODERN, Revision
from toolyard.upstreams.conversation.envelope import OUR_INFO, envelope, protocol_error
from toolyard.upstreams.conversation.peer import Peer
from toolyard.upstreams.conversation.session import UpstreamSession
from toolyard.upstreams.link.link import LinkError, Refusal

Era: TypeAlias = Literal["modern", "handshake"]

# Assumed of a modern upstream that does not say: asking for a list that it lacks is harmless.
ASSUMED: JsonObject = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
# A proxy's word for "nothing behind me answers": no reason to try the older greeting.
_DOWN = (502, 503, 504)


class Mismatch(LinkError):
    """The upstream speaks MCP, but no revision that we know."""


class NotModern(Exception):
    """`server/discover` got an answer that only a handshake-era upstream gives.

    `supported` are the revisions that it named, if it named any.
    """

    def __init__(self, supported: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.supported = supported


async def greet(session: UpstreamSession, era: Era | None = None) -> None:
    """Find out who `session` speaks to. `era` is what was found out about this upstream before."""
    async with asyncio.timeout(session.limits.start):
        peer = await _settle(session, era)
    session.meet(peer)
    if not peer.revision.modern:
        await session.notify("notifications/initialized", {})
        session.link.listen(peer.revision.date)


def _settle(session: UpstreamSession, era: Era | None) -> Awaitable[Peer]:
    if era == "handshake":
        return _initialize(session)
    if era is None and not session.owner.revision.modern:
        return _probe_handshake(session)
    return _probe(session)


async def _probe_handshake(session: UpstreamSession) -> Peer:
    """For a client of the handshake era: the other only where the upstream lacks this one."""
    try:
        return await _initialize(session)
    except (Mismatch, Refusal) as error:
        refusal = error
    try:
        return await _discover(session)
    except (NotModern, ProtocolError, Refusal):
        raise refusal from None


async def _probe(session: UpstreamSession) -> Peer:
    """Discover first; a silent upstream is greeted the old way before it costs more time."""
    discovery = asyncio.ensure_future(_discover(session))
    initialization: asyncio.Future[Peer] | None = None
    try:
        await asyncio.wait({discovery}, timeout=session.limits.silence)
        if not discovery.done():
            initialization = asyncio.ensure_future(_initialize(session))
            await _first_verdict(discovery, initialization)
        if _is_modern(discovery):
            return discovery.result()
        if initialization is not None:
            return await initialization
        return await _initialize(session, _only_ours(_named_by(discovery)))
    finally:
        await _drop(discovery, initialization)


async def _first_verdict(
    discovery: asyncio.Future[Peer], initialization: asyncio.Future[Peer]
) -> None:
    """Wait until it is settled: one of the two has a good answer, or both have failed."""
    probes = {discovery, initialization}
    while probes:
        verdicts, probes = await asyncio.wait(probes, return_when=asyncio.FIRST_COMPLETED)
        if any(probe.exception() is None for probe in verdicts):
            return


def _is_modern(discovery: asyncio.Future[Peer]) -> bool:
    if not discovery.done():
        return False
    error = discovery.exception()
    if isinstance(error, LinkError | UpstreamError | TimeoutError):
        raise error
    return error is None


def _named_by(discovery: asyncio.Future[Peer]) -> frozenset[str]:
    error = discovery.exception()
    return error.supported if isinstance(error, NotModern) else frozenset()


def _only_ours(dates: frozenset[str]) -> frozenset[str]:
    """An upstream that names its revisions is not greeted in one that it lacks."""
    if dates and _latest(dates, HANDSHAKE) is None:
        raise Mismatch(f"speaks no revision that we know, only {', '.join(sorted(dates))}")
    return dates


async def _drop(*tasks: asyncio.Future[Peer] | None) -> None:
    probes = [task for task in tasks if task is not None]
    for task in probes:
        task.cancel()
    await asyncio.gather(*probes, return_exceptions=True)


# -- the modern era ----------------------------------------------------------------------


async def _discover(session: UpstreamSession) -> Peer:
    try:
        return await _ask_discover(session)
    except NotModern as verdict:
        if not verdict.supported & MODERN.keys():
            raise
    # It refused a revision and names a modern one that we speak: that one, once.
    return await _ask_discover(session)


async def _ask_discover(session: UpstreamSession) -> Peer:
    params = {"_meta": envelope(LATEST.date)}
    try:
        result = await session.greet("server/discover", params, LATEST.date)
    except ProtocolError as error:
        dates = _supported(error)
    except Refusal as refusal:
        if _utters_modern(refusal):
            return Peer(LATEST, ASSUMED)
        dates = _supported(protocol_error(refusal.error))
    else:
        return _discovered(result)
    again = _latest(dates, MODERN)
    if again is None:
        raise NotModern(dates)
    return await _discover_again(session, again.date)


async def _discover_again(session: UpstreamSession, version: str) -> Peer:
    """Once more, with a revision that the upstream itself has named."""
    try:
        result = await session.greet("server/discover", {"_meta": envelope(version)}, version)
    except ProtocolError as error:
        raise Refusal(200, f"server/discover: {error.message}") from None
    return _discovered(result)


def _supported(error: ProtocolError) -> frozenset[str]:
    if error.code != UNSUPPORTED_REVISION or not isinstance(error.data, dict):
        return frozenset()
    return _dates(error.data.get("supported"))


def _utters_modern(refusal: Refusal) -> bool:
    """Some refusals come from modern servers only; the others are an old server's surprise."""
    if refusal.error is None:
        if refusal.status in _DOWN:
            raise refusal
        return False
    code = refusal.error.get("code")
    absent = code == METHOD_NOT_FOUND and refusal.status == 404
    return absent or code in (HEADER_MISMATCH, MISSING_CAPABILITY)


def _discovered(result: JsonObject) -> Peer:
    dates = _dates(result.get("supportedVersions"))
    revision = _latest(dates, MODERN)
    if revision is None:
        raise NotModern(dates)
    meta = _object(result.get("_meta"))
    info = _object(meta.get(SERVER_INFO))
    return Peer(revision, _object(result.get("capabilities")), info, _text(result, "instructions"))


# -- the handshake era -------------------------------------------------------------------


async def _initialize(session: UpstreamSession, dates: frozenset[str] = frozenset()) -> Peer:
    """`initialize` with the client's revision, or with the latest one the upstream has named."""
    proposal = _first_asked(session.owner.revision, dates)
    try:
        result = await _say_hello(session, proposal)
    except ProtocolError as error:
        data = error.data if isinstance(error.data, dict) else {}
        counterproposal = _latest(_dates(data.get("supported")), HANDSHAKE)
        if counterproposal is None or counterproposal is proposal:
            raise Refusal(200, f"initialize: {error.message}") from None
        result = await _say_hello(session, counterproposal)
    revision = HANDSHAKE.get(str(result.get("protocolVersion")))
    if revision is None:
        raise Mismatch(f"speaks a revision we do not know, {result.get('protocolVersion')!r}")
    return Peer(
        revision,
        _object(result.get("capabilities")),
        _object(result.get("serverInfo")),
        _text(result, "instructions"),
        proposal,
    )


def _first_asked(preferred: Revision, dates: frozenset[str]) -> Revision:
    if not preferred.modern and (not dates or preferred.date in dates):
        return preferred
    return _latest(dates, HANDSHAKE) or LATEST_HANDSHAKE


async def _say_hello(session: UpstreamSession, revision: Revision) -> JsonObject:
    params = {
        "protocolVersion": revision.date,
        "capabilities": session.owner.capabilities,
        "clientInfo": OUR_INFO,
    }
    return await session.greet("initialize", params, None)


def _latest(dates: frozenset[str], ours: Mapping[str, Revision]) -> Revision | None:
    common = sorted(dates & ours.keys())
    return ours[common[-1]] if common else None


def _dates(value: Json) -> frozenset[str]:
    return (
        frozenset(date for date in value if isinstance(date, str))
        if isinstance(value, list)
        else frozenset()
    )


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _text(result: JsonObject, key: str) -> str | None:
    value = result.get(key)
    return value if isinstance(value, str) else None
