"""Roots: the folders that a client works in, asked of it once it is ready and when they change.

Modern clients are not asked here: a script that needs their roots asks in its own call.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass

from toolyard.errors import ProtocolError, ToolError
from toolyard.files.beneath import is_below
from toolyard.protocol.call import Call, Channel, Handler, Json, Result, Session
from toolyard.protocol.client import ROOTS
from toolyard.scripts.contract.environ import Roots, file_uri
from toolyard.scripts.resources.files import path_of
from toolyard.telemetry import logger

log = logger("roots")
# A call that comes while the very first answer is on its way waits for it so long.
PATIENCE = 1.0
MOST_ROOTS = 256


@dataclass(frozen=True, slots=True)
class RootsSettings:
    debounce: float = 1.0
    timeout: float = 5.0
    # The client started us, on this machine: its roots are used in place of ours.
    # Others can only narrow what is configured.
    replace: bool = False


class RootsMethods:
    def __init__(self, configured: Roots, settings: RootsSettings) -> None:
        self._configured = configured
        self._settings = settings
        self._told: dict[str, Roots] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}

    def of(self, _call: Call, channel: Channel) -> Roots:
        """The roots in force for a call."""
        session = channel.session
        return self._told.get(session.key, self._configured) if session else self._configured

    async def initialized(self, call: Call, channel: Channel) -> Result:
        session = channel.session
        if session is not None and call.client.supports(ROOTS):
            session.on_close(lambda: self._forget(session.key))
            self._ask(session, 0.0)
        return {}

    async def changed(self, call: Call, channel: Channel) -> Result:
        session = channel.session
        if session is not None and call.client.supports(ROOTS):
            self._ask(session, self._settings.debounce)
        return {}

    def awaited(self, handler: Handler) -> Handler:
        """The handler, for calls that may come before the first answer."""

        async def answer(call: Call, channel: Channel) -> Result:
            session = channel.session
            if session is not None and session.key in self._asking:
                await self._first_answer(session.key)
            return await handler(call, channel)

        return answer if self._settings.replace else handler

    async def _first_answer(self, key: str) -> None:
        if key not in self._told:
            await asyncio.wait([self._asking[key]], timeout=PATIENCE)

    def _ask(self, session: Session, delay: float) -> None:
        """Changes that come in quick succession are asked about once."""
        older = self._asking.pop(session.key, None)
        if older is not None:
            older.cancel()
        task = asyncio.get_running_loop().create_task(self._take(session, delay))
        self._asking[session.key] = task
        task.add_done_callback(lambda done: self._asked(session.key, done))

    def _asked(self, key: str, task: asyncio.Task[None]) -> None:
        if self._asking.get(key) is task:
            del self._asking[key]

    async def _take(self, session: Session, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            answer = await session.ask(ROOTS, {}, self._settings.timeout)
        except (TimeoutError, ProtocolError, ToolError) as error:
            log.info("the client did not list its roots: %s", error or "no answer in time")
            return
        self._told[session.key] = self._accepted(answer)

    def _accepted(self, answer: Json) -> Roots:
        listed = answer.get("roots") if isinstance(answer, dict) else None
        named = listed[:MOST_ROOTS] if isinstance(listed, list) else ()
        items = [item for root in named if (item := _item(root)) is not None]
        if self._settings.replace:
            return Roots.of(items)
        return Roots.of(list(_narrowed(items, self._configured.paths)))

    def _forget(self, key: str) -> None:
        self._told.pop(key, None)
        task = self._asking.pop(key, None)
        if task is not None:
            task.cancel()


def _item(root: Json) -> dict[str, str] | None:
    """What a client calls a root, where it names something that we can read."""
    uri = root.get("uri") if isinstance(root, dict) else None
    if not isinstance(uri, str):
        return None
    try:
        path = os.path.realpath(path_of(uri))
    except (ProtocolError, ValueError, OSError) as error:
        log.warning("the root %s is not used: %s", uri, error)
        return None
    if not os.access(path, os.R_OK):
        log.warning("the root %s is not used: it cannot be read here", uri)
        return None
    name = root.get("name")
    return {
        "uri": uri,
        "name": name if isinstance(name, str) and name else os.path.basename(path),
        "path": path,
    }


def _narrowed(items: list[dict[str, str]], allowed: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """What lies in both: the client's root below ours, or ours below the client's."""
    for item in items:
        for path in allowed:
            if is_below(item["path"], os.path.realpath(path)):
                yield item
                break
            if is_below(path, item["path"]):
                yield {"uri": file_uri(path), "name": item["name"], "path": path}
