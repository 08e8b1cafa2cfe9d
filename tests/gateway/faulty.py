"""Two servers that fail as they are told, behind one gateway with a healthy one.

Both note every call that reaches them in the file `ran`, before they do anything else with it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.gateway.yard import ECHO, Yard
from tests.upstreams.fake_http import FakeHttp, Request, modern
from tests.upstreams.seam import FAKE

Json = Any
COUNT = {"name": "count", "inputSchema": {"type": "object"}}
# Of a call, without an answer or a sign of life; and of the tool over it, with everything.
CALL_LIMIT, TOOL_LIMIT = 1, 3


class Remote:
    """What the server over HTTP does with a call; its `silence` holds for every request."""

    def __init__(self, ran: Path) -> None:
        self._ran = ran
        self._answers = modern(self._count, tools=[COUNT])
        self.silence = asyncio.Event()

    async def __call__(self, request: Request) -> None:
        if self.silence.is_set() and request.rpc != "tools/call":
            await request.gone()
        else:
            await self._answers(request)

    async def _count(self, request: Request) -> None:
        arguments = request.json["params"]["arguments"]
        with self._ran.open("a") as file:
            file.write(arguments["note"])
        how = arguments.get("how", "")
        if how.isdecimal():
            request.answer(int(how), b"not today", "text/plain")
        elif how == "cut":
            await cut_in_the_middle(request)
        elif how == "half-open":
            self.silence.set()
            await request.gone()
        elif how == "garbage":
            request.answer(200, b"<\x00{]")
        elif how == "reset":
            request.cut()
        else:
            request.result({"resultType": "complete", "content": []})


async def cut_in_the_middle(request: Request) -> None:
    request.open_events()
    said = {"level": "info", "data": "working"}
    request.event({"jsonrpc": "2.0", "method": "notifications/message", "params": said})
    await request.writer.drain()
    request.cut()


@dataclass
class Faulty:
    """The registry of the three, and how to tell the one over pipes what to do."""

    yard: Yard
    ran: Path
    mood: Path
    notes: list[str] = field(default_factory=list)

    def write(self, remote: FakeHttp) -> None:
        options = json.dumps({"mood": str(self.mood), "tools": [COUNT]})
        local = {"command": sys.executable, "args": ["-S", FAKE, options]}
        limit = {"timeoutSecs": CALL_LIMIT}
        self.yard.registry(
            servers=[
                self.yard.upstream("good", ECHO, expose="all"),
                {"name": "local", "stdio": local, **limit},
                {"name": "remote", "url": remote.url, "transport": "streamablehttp", **limit},
            ],
            tools=[
                {**COUNT, "name": name, "server": name, "originalName": "count"}
                | {"timeoutSecs": TOOL_LIMIT}
                for name in ("local", "remote")
            ],
        )

    def arguments(self, how: str) -> Json:
        """Of a call that can be told from every other."""
        note = f"{len(self.notes)} "
        self.notes.append(note)
        return {"file": str(self.ran), "note": note, "how": how}

    def times_run(self) -> dict[str, int]:
        ran = self.ran.read_text().split()
        return {note: ran.count(note) for note in ran}
