"""A gateway before an upstream of every revision, and raw clients of any other."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.peers.raw import Answer, JsonObject
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import Listening, serving
from tests.until import until

ASKER = str(Path(__file__).with_name("asker.py"))
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
EVERYTHING: JsonObject = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {},
}


@dataclass(slots=True)
class Bridge:
    """A client, and one of the upstreams."""

    client: HttpClient
    tool: str
    log: Path
    seen: int = 0  # bytes of the log that are older than this

    def playing(self, *steps: JsonObject) -> JsonObject:
        return {"name": self.tool, "arguments": {"steps": list(steps)}}

    async def play(self, *steps: JsonObject) -> JsonObject:
        """The response of a call that does these steps, its questions answered."""
        params = self.playing(*steps)
        response = await self.client.request("tools/call", params)
        while response.get("result", {}).get("resultType") == "input_required":
            asked = response["result"]
            again = {**params, "inputResponses": self.client.responses_to(asked)}
            if "requestState" in asked:
                again["requestState"] = asked["requestState"]
            response = await self.client.request("tools/call", again)
        return response

    def received(self) -> list[JsonObject]:
        """What the upstream has got, in order."""
        lines = self.log.read_bytes()[self.seen :].splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines]

    async def arrives(self, method: str) -> JsonObject:
        """The first message of that method that the upstream gets."""

        def first() -> JsonObject | None:
            return next((one for one in self.received() if one.get("method") == method), None)

        return await until(first)


@dataclass(slots=True)
class Bridges:
    """A gateway before one upstream of each revision."""

    server: Listening
    folder: Path

    @asynccontextmanager
    async def between(
        self,
        client: str,
        upstream: str,
        *,
        capabilities: JsonObject | None = None,
        answers: Mapping[str, Answer] | None = None,
    ) -> AsyncIterator[Bridge]:
        able = EVERYTHING if capabilities is None else capabilities
        log = self.folder / f"{upstream}.log"
        seen = log.stat().st_size if log.exists() else 0
        options: Any = {"capabilities": able, "answers": answers}
        async with over_http(self.server.url, client, **options) as raw:
            yield Bridge(raw, f"{upstream}_play", log, seen)


@asynccontextmanager
async def bridges(folder: Path) -> AsyncIterator[Bridges]:
    servers = []
    for revision in REVISIONS:
        words = ["-S", ASKER, revision, str(folder / f"{revision}.log")]
        command = {"command": sys.executable, "args": words}
        servers.append({"name": revision, "stdio": command, "prefix": f"{revision}_"})
    async with serving(registry(folder, *servers), "--no-page") as server:
        yield Bridges(server, folder)


def registry(folder: Path, *servers: JsonObject) -> Path:
    """All of what they offer."""
    path = folder / "registry.json"
    exposed = [{"name": "up", "expose": "all", **server} for server in servers]
    path.write_text(json.dumps({"servers": exposed}))
    return path


def said(response: JsonObject) -> Any:
    """The answers that the upstream got."""
    return json.loads(response["result"]["content"][0]["text"])
