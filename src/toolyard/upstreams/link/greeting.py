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
from toolyard.protocol.keys import SERVER_INFO
from toolyard.protocol.revisions import HANDSHAKE, LATEST, LATEST_HANDSHAKE, MODERN, Revision
from toolyard.upstreams.envelope import OUR_INFO, envelope, protocol_error
from toolyard.upstreams.link.link import LinkError, Refusal
from toolyard.upstreams.session import Peer, UpstreamSession

Era: TypeAlias = Literal["modern", "handshake"]

# Assumed of a modern upstream that does not say: asking for a list that it lacks is harmless.
UNTOLD: JsonObject = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
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


async def greet(session: UpstreamSession, known: Era | None = None) -> None:
    """Settle `session.peer`. `known` is what was found out about this upstream before."""
    async with asyncio.timeout(session.limits.start):
        peer = await _settle(session, known)
    session.peer = peer
    if not peer.revision.modern:
        await session.notify("notifications/initialized", {})
        session.link.listen(peer.revision.date)


def _settle(session: UpstreamSession, known: Era | None) -> Awaitable[Peer]:
    if known == "handshake":
        return _initialize(session)
    if known is None and not session.owner.revision.modern:
        return _probe_handshake(session)
    return _probe(session)


async def _probe_handshake(session: UpstreamSession) -> Peer:
    """For a client of the handshake era: another one only where it does not have that."""
    try:
        return await _initialize(session)
    except (Mismatch, Refusal) as error:
        refused = error
    try:
        return await _discover(session)
    except (NotModern, ProtocolError, Refusal):
        raise refused from None


async def _probe(session: UpstreamSession) -> Peer:
    """Discover first; a silent upstream is greeted the old way before it costs more time."""
    discovering = asyncio.ensure_future(_discover(session))
    initializing: asyncio.Future[Peer] | None = None
    try:
        await asyncio.wait({discovering}, timeout=session.limits.silence)
        if not discovering.done():
            initializing = asyncio.ensure_future(_initialize(session))
            await _first_verdict(discovering, initializing)
        if _is_modern(discovering):
            return discovering.result()
        if initializing is not None:
            return await initializing
        return await _initialize(session, _only_ours(_named_by(discovering)))
    finally:
        await _drop(discovering, initializing)


async def _first_verdict(
    discovering: asyncio.Future[Peer], initializing: asyncio.Future[Peer]
) -> None:
    """Until one of the two has settled it: a good answer of either, or both have failed."""
    waiting = {discovering, initializing}
    while waiting:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if any(one.exception() is None for one in done):
            return


def _is_modern(discovering: asyncio.Future[Peer]) -> bool:
    if not discovering.done():
        return False
    error = discovering.exception()
    if isinstance(error, LinkError | UpstreamError | TimeoutError):
        raise error
    return error is None


def _named_by(discovering: asyncio.Future[Peer]) -> frozenset[str]:
    error = discovering.exception()
    return error.supported if isinstance(error, NotModern) else frozenset()


def _only_ours(named: frozenset[str]) -> frozenset[str]:
    """An upstream that names its revisions is not greeted in one that it lacks."""
    if named and _latest(named, HANDSHAKE) is None:
        raise Mismatch(f"speaks no revision that we know, only {', '.join(sorted(named))}")
    return named


async def _drop(*tasks: asyncio.Future[Peer] | None) -> None:
    left = [task for task in tasks if task is not None]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


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
        named = _supported(error)
    except Refusal as refused:
        if _utters_modern(refused):
            return Peer(LATEST, UNTOLD)
        named = _supported(protocol_error(refused.error))
    else:
        return _discovered(result)
    again = _latest(named, MODERN)
    if again is None:
        raise NotModern(named)
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


def _utters_modern(refused: Refusal) -> bool:
    """Some refusals only a modern server utters; the others are an old server's surprise."""
    if refused.error is None:
        if refused.status in _DOWN:
            raise refused
        return False
    code = refused.error.get("code")
    absent = code == METHOD_NOT_FOUND and refused.status == 404
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


async def _initialize(session: UpstreamSession, named: frozenset[str] = frozenset()) -> Peer:
    """`initialize` with the client's revision, or with the latest one the upstream has named."""
    asked = session.asked = _first_asked(session.owner.revision, named)
    try:
        result = await _say_hello(session, asked)
    except ProtocolError as error:
        data = error.data if isinstance(error.data, dict) else {}
        other = _latest(_dates(data.get("supported")), HANDSHAKE)
        if other is None or other is asked:
            raise Refusal(200, f"initialize: {error.message}") from None
        result = await _say_hello(session, other)
    revision = HANDSHAKE.get(str(result.get("protocolVersion")))
    if revision is None:
        raise Mismatch(f"speaks a revision we do not know, {result.get('protocolVersion')!r}")
    return Peer(
        revision,
        _object(result.get("capabilities")),
        _object(result.get("serverInfo")),
        _text(result, "instructions"),
    )


def _first_asked(wanted: Revision, named: frozenset[str]) -> Revision:
    if not wanted.modern and (not named or wanted.date in named):
        return wanted
    return _latest(named, HANDSHAKE) or LATEST_HANDSHAKE


async def _say_hello(session: UpstreamSession, revision: Revision) -> JsonObject:
    params = {
        "protocolVersion": revision.date,
        "capabilities": session.owner.capabilities,
        "clientInfo": OUR_INFO,
    }
    return await session.greet("initialize", params, None)


def _latest(dates: frozenset[str], known: Mapping[str, Revision]) -> Revision | None:
    shared = sorted(dates & known.keys())
    return known[shared[-1]] if shared else None


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
