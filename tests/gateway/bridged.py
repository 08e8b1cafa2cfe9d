"""A gateway before an upstream of one revision, and a raw client of another."""

from __future__ import annotations

import asyncio
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

ASKER = str(Path(__file__).with_name("asker.py"))
EVERYTHING: JsonObject = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {},
}


@dataclass(slots=True)
class Bridge:
    client: HttpClient
    log: Path
    server: Listening

    async def play(self, *steps: JsonObject) -> JsonObject:
        """The response of a call that does these steps, its questions answered."""
        params = {"name": "play", "arguments": {"steps": list(steps)}}
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
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines]

    async def arrives(self, method: str) -> JsonObject:
        """The first message of that method that the upstream gets."""
        async with asyncio.timeout(20):
            while True:
                for message in self.received():
                    if message.get("method") == method:
                        return message
                await asyncio.sleep(0.02)


def registry(folder: Path, server: JsonObject) -> Path:
    path = folder / "registry.json"
    path.write_text(json.dumps({"servers": [{"name": "up", "expose": "all", **server}]}))
    return path


@asynccontextmanager
async def bridge(
    folder: Path,
    client: str,
    upstream: str,
    *,
    capabilities: JsonObject | None = None,
    answers: Mapping[str, Answer] | None = None,
) -> AsyncIterator[Bridge]:
    log = folder / "received.log"
    command = {"command": sys.executable, "args": ["-S", ASKER, upstream, str(log)]}
    able = EVERYTHING if capabilities is None else capabilities
    async with (
        serving(registry(folder, {"stdio": command}), "--no-page") as server,
        over_http(server.url, client, capabilities=able, answers=answers) as raw,
    ):
        yield Bridge(raw, log, server)


def said(response: JsonObject) -> Any:
    """The answers that the upstream got."""
    return json.loads(response["result"]["content"][0]["text"])
