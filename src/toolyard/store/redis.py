"""A store in Redis or Valkey, alone, watched by Sentinels or in a cluster.

Imported only where a store is named: redis-py is an extra.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

from redis.exceptions import NoScriptError

from toolyard.store import scripts
from toolyard.store.addresses import client_of, shown
from toolyard.store.interface import (
    Allowance,
    Cap,
    Event,
    Lease,
    LeaseLost,
    Rate,
    Record,
    StoreCondition,
    check_tag,
)
from toolyard.store.notices import Notices
from toolyard.store.scripts import Script
from toolyard.store.trips import DEADLINE, Trips

_VERSION = 8
_ANY = b"*"
_LOST = -1
# How long an answer of "nothing new" may be believed where notices could be lost.
_LOOK_AT_LEAST = 10.0


class RedisStore:
    def __init__(self, url: str, deadline: float = DEADLINE) -> None:
        """Raises ConfigError."""
        client = client_of(url)
        self._trips = Trips(client, shown(url), deadline)
        self._notices = Notices(client, shown(url))

    async def open(self) -> None:
        """Raises NotAStore. One that is away will be used when it is there."""
        await self._trips.open()

    async def close(self) -> None:
        await self._notices.close()
        await self._trips.close()

    @property
    def condition(self) -> StoreCondition:
        return self._trips.condition

    def on_return(self, callback: Callable[[], None]) -> None:
        self._trips.on_return(callback)

    async def _run(self, script: Script, keys: Sequence[str], *arguments: Any) -> Any:
        rest = (len(keys), *keys, *arguments)
        try:
            return await self._trips.go("EVALSHA", script.digest, *rest, writes=True)
        except NoScriptError:  # it was started anew, and nothing was done
            return await self._trips.go("EVAL", script.text, *rest, writes=True)

    # -- records -----------------------------------------------------------------------

    async def read(self, *names: str) -> list[Record | None]:
        replies = await _all(self._trips.go("GET", _key("record", name)) for name in names)
        return [
            None if reply is None else Record(reply[_VERSION:], reply[:_VERSION])
            for reply in replies
        ]

    async def write(
        self,
        name: str,
        value: bytes,
        seconds: float,
        *,
        version: bytes | None = None,
        lease: Lease | None = None,
    ) -> bytes | None:
        check_tag(name, lease)
        new = os.urandom(_VERSION)
        if version is None and lease is None:
            await self._trips.go(
                *("SET", _key("record", name), new + value, "PX", _milliseconds(seconds)),
                writes=True,
            )
            return new
        keys = _with_lease("record", name, lease)
        wanted = _ANY if version is None else version
        rest = (wanted, new + value, _milliseconds(seconds))
        done = _under(lease, await self._run(scripts.WRITE, keys, _held(lease), *rest))
        return new if done else None

    async def erase(
        self, name: str, *, version: bytes | None = None, lease: Lease | None = None
    ) -> bool:
        check_tag(name, lease)
        keys = _with_lease("record", name, lease)
        wanted = _ANY if version is None else version
        return bool(_under(lease, await self._run(scripts.ERASE, keys, _held(lease), wanted)))

    # -- leases ------------------------------------------------------------------------

    async def take(self, name: str, holder: str, seconds: float) -> Lease | None:
        until = monotonic() + seconds
        lasts = _milliseconds(seconds)
        fence = await self._run(scripts.TAKE, [_key("lease", name)], holder, lasts)
        return None if fence is None else Lease(name, holder, int(fence), until)

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Lease | None]:
        until = monotonic() + seconds
        lasts = _milliseconds(seconds)
        replies = await _all(
            self._run(scripts.RENEW, [_key("lease", one.name)], _held(one), lasts) for one in leases
        )
        return [
            Lease(one.name, one.holder, one.fence, until) if reply else None
            for one, reply in zip(leases, replies, strict=True)
        ]

    async def release(self, lease: Lease) -> bool:
        return bool(await self._run(scripts.RELEASE, [_key("lease", lease.name)], _held(lease)))

    async def held(self, name: str) -> Lease | None:
        value = await self._trips.go("GET", _key("lease", name))
        if value is None:
            return None
        fence, _, holder = value.decode().partition(" ")
        return Lease(name, holder, int(fence), until=0.0)

    # -- streams -----------------------------------------------------------------------

    async def append(
        self,
        name: str,
        events: Sequence[Event],
        cap: Cap,
        *,
        oldest: int = 0,
        lease: Lease | None = None,
    ) -> None:
        check_tag(name, lease)
        keys = _with_lease("stream", name, lease)
        flat = (part for event in events for part in event)
        bounds = (cap.events, oldest, _milliseconds(cap.seconds), _key("news", name))
        _under(lease, await self._run(scripts.APPEND, keys, _held(lease), *bounds, *flat))

    async def events(self, name: str, after: int, wait: float = 0) -> list[Event]:
        if wait <= 0:
            return await self._events(name, after)
        until = monotonic() + wait
        while True:
            async with self._notices.of(_key("news", name)) as channel:
                channel.heard.clear()
                later = await self._events(name, after)
                left = until - monotonic()
                if later or left <= 0:
                    return later
                try:
                    async with asyncio.timeout(min(left, _LOOK_AT_LEAST)):
                        await channel.heard.wait()
                except TimeoutError:
                    pass  # a notice may be lost on its way: look all the same

    async def _events(self, name: str, after: int) -> list[Event]:
        reply = await self._trips.go("XRANGE", _key("stream", name), f"({after}-0", "+")
        return [Event(int(number.partition(b"-")[0]), fields[b"e"]) for number, fields in reply]

    # -- allowances --------------------------------------------------------------------

    async def allow(self, name: str, rate: Rate, wanted: int) -> Allowance:
        granted, wait = await self._run(scripts.ALLOW, [_key("rate", name)], *rate, wanted)
        return Allowance(int(granted), float(wait))

    async def give_back(self, name: str, rate: Rate, unused: int) -> None:
        await self._run(scripts.ALLOW, [_key("rate", name)], *rate, -unused)

    async def occupy(
        self, name: str, holder: str, wanted: int, *, most: int, seconds: float
    ) -> int:
        rest = (holder, wanted, most, seconds)
        return int(await self._run(scripts.OCCUPY, [_key("seats", name)], *rest))

    # -- groups ------------------------------------------------------------------------

    async def join(self, group: str, member: str, value: bytes, seconds: float) -> None:
        await self._run(scripts.JOIN, [_key("group", group)], member, value, seconds)

    async def leave(self, group: str, member: str) -> None:
        await self._trips.go("HDEL", _key("group", group), member, writes=True)

    async def members(self, group: str) -> Mapping[str, bytes]:
        flat = await self._run(scripts.MEMBERS, [_key("group", group)])
        return {member.decode(): value for member, value in zip(flat[::2], flat[1::2], strict=True)}


def _key(kind: str, name: str) -> str:
    return f"toolyard:{kind}:{name}" if "{" in name else f"toolyard:{kind}:{{{name}}}"


def _with_lease(kind: str, name: str, lease: Lease | None) -> list[str]:
    return [_key(kind, name), _key("lease", name if lease is None else lease.name)]


def _held(lease: Lease | None) -> str:
    """A lease as the store has it."""
    return "" if lease is None else f"{lease.fence} {lease.holder}"


def _under(lease: Lease | None, reply: Any) -> Any:
    if reply == _LOST and lease is not None:
        raise LeaseLost(f"the lease {lease.name} is not held by {lease.holder} any more")
    return reply


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))


async def _all(going: Any) -> list[Any]:
    """Together, and so in one trip."""
    return await asyncio.gather(*going)
