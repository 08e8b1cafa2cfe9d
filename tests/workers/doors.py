"""Which worker a connection comes to, made certain: the others are stopped while it is accepted.

Left to themselves, workers share connections fairly but not by any rule that a busy machine
keeps. What is to be shown of a request that comes to another worker needs one that does.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress

from tests.peers.serving import Listening
from tests.processes import has_owner, processes, state
from tests.until import until

# A worker that has just been started takes nothing yet; it may need the others for its start.
ACCEPTED_WITHIN = 1.0
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def doors(server: Listening) -> AsyncIterator[dict[int, str]]:
    """For each worker a URL whose connections all come to it."""
    gate = _Gate(server)
    async with AsyncExitStack() as stack:
        yield {
            pid: await stack.enter_async_context(_door(gate, itertools.repeat(pid)))
            for pid in sorted(workers_of(server))
        }


@asynccontextmanager
async def in_turn(server: Listening) -> AsyncIterator[str]:
    """A URL of which each connection comes to another worker than the one before."""
    async with _door(_Gate(server), itertools.cycle(sorted(workers_of(server)))) as url:
        yield url


async def all_serve(server: Listening) -> None:
    """Once each worker takes connections."""
    for pid in workers_of(server):
        _, writer = await _Gate(server).through(pid)
        writer.close()


def workers_of(server: Listening) -> set[int]:
    return {
        pid
        for pid, fields in processes()
        if int(fields[1]) == server.process.pid and fields[0] not in "ZX"
    }


class _Gate:
    """The address of several workers, where one connection is accepted at a time."""

    def __init__(self, server: Listening) -> None:
        self._server = server
        self._stopping = asyncio.Lock()  # who stops each other's workers waits for each other

    async def through(self, pid: int) -> Streams:
        return await until(lambda: self._offered_to(pid))

    async def _offered_to(self, pid: int) -> Streams | None:
        """A connection of this worker; nothing, where it took none in time."""
        async with self._stopping:
            others = workers_of(self._server) - {pid}
            with _stopped(others):
                await until(lambda: all(state(other) in "TZX" for other in others))
                with suppress(TimeoutError):
                    async with asyncio.timeout(ACCEPTED_WITHIN):
                        return await _accepted(self._server)
        return None


@contextmanager
def _stopped(pids: set[int]) -> Iterator[None]:
    try:
        for pid in pids:
            _signal(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            _signal(pid, signal.SIGCONT)


def _signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


async def _accepted(server: Listening) -> Streams:
    host, port = server.origin.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        ours = writer.get_extra_info("sockname")[1]
        await until(lambda: has_owner(int(port), ours))
    except BaseException:
        writer.close()
        raise
    return reader, writer


@asynccontextmanager
async def _door(gate: _Gate, workers: Iterator[int]) -> AsyncIterator[str]:
    passing: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await gate.through(next(workers))
        await asyncio.gather(_pass_on(reader, far_writer), _pass_on(far_reader, writer))

    def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passing.add(asyncio.create_task(carry(reader, writer)))

    listener = await asyncio.start_server(enter, "127.0.0.1", 0)
    try:
        host, port = listener.sockets[0].getsockname()
        yield f"http://{host}:{port}/mcp"
    finally:
        listener.close()
        for task in passing:
            task.cancel()
        await asyncio.gather(*passing, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except ConnectionError:
        pass  # the other side reads the end of it
    finally:
        writer.close()
