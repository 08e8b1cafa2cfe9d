"""Roots: the folders a client works in. It is asked once it is ready, and when they change.

Modern clients are not asked here: a script that needs their roots asks during its call.
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
from toolyard.scripts.contract.environ import Roots, RootsInForce, file_uri
from toolyard.scripts.resources.files import path_of
from toolyard.telemetry import logger

log = logger("roots")
# How long a call waits for the very first answer, if that is on its way.
PATIENCE = 1.0
MOST_ROOTS = 256


@dataclass(frozen=True, slots=True)
class RootsSettings:
    debounce: float = 1.0
    timeout: float = 5.0
    # The client started us, on this machine: its roots replace ours.
    # Other clients can only narrow the configured roots.
    replace: bool = False


class RootsMethods:
    """Asks each client which roots it has, and keeps what is in force up to date."""

    def __init__(self, in_force: RootsInForce, settings: RootsSettings) -> None:
        self._in_force = in_force
        self._settings = settings
        self._tasks: dict[str, asyncio.Task[None]] = {}

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
        """The handler, which waits for the first answer if it is on its way."""

        async def answer(call: Call, channel: Channel) -> Result:
            session = channel.session
            if session is not None and session.key in self._tasks:
                await self._first_answer(session.key)
            return await handler(call, channel)

        return answer if self._settings.replace else handler

    async def _first_answer(self, key: str) -> None:
        if not self._in_force.is_listed(key):
            await asyncio.wait([self._tasks[key]], timeout=PATIENCE)

    def _ask(self, session: Session, delay: float) -> None:
        """Ask for the roots; changes in quick succession are asked about once."""
        older = self._tasks.pop(session.key, None)
        if older is not None:
            older.cancel()
        task = asyncio.get_running_loop().create_task(self._take(session, delay))
        self._tasks[session.key] = task
        task.add_done_callback(lambda done_task: self._discard(session.key, done_task))

    def _discard(self, key: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

    async def _take(self, session: Session, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            answer = await session.ask(ROOTS, {}, self._settings.timeout)
        except (TimeoutError, ProtocolError, ToolError) as error:
            log.info("the client did not list its roots: %s", error or "no answer in time")
            return
        self._in_force.keep(session.key, self._roots_in(answer))

    def _roots_in(self, answer: Json) -> Roots:
        roots = answer.get("roots") if isinstance(answer, dict) else None
        first_roots = roots[:MOST_ROOTS] if isinstance(roots, list) else ()
        items = [item for root in first_roots if (item := _item(root)) is not None]
        if self._settings.replace:
            return Roots.of(items)
        return Roots.of(list(_in_both(items, self._in_force.own.paths)))

    def _forget(self, key: str) -> None:
        self._in_force.forget(key)
        task = self._tasks.pop(key, None)
        if task is not None:
            task.cancel()


def _item(root: Json) -> dict[str, str] | None:
    """A root of the client, if it is something that we can read."""
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


def _in_both(items: list[dict[str, str]], own_paths: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """The roots in both: the client's below ours, or ours below the client's."""
    for item in items:
        for path in own_paths:
            if is_below(item["path"], os.path.realpath(path)):
                yield item
                break
            if is_below(path, item["path"]):
                yield {"uri": file_uri(path), "name": item["name"], "path": path}
