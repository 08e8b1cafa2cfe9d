"""Gateways before servers of either era, and clients of either era on the official SDK."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.client import Client

from tests.peers import sdk_conformance_server as sdk
from tests.peers.serving import Listening, environment, serving
from toolyard.sources.registry.format.load import load_registry
from toolyard.upstreams.lists.disk import RecordFolder
from toolyard.upstreams.pool import Pool
from toolyard.upstreams.setup import Setup

MODERN, HANDSHAKE = "2026-07-28", "2025-11-25"
# How the SDK's client is told which era to speak.
MODES = {MODERN: "auto", HANDSHAKE: "legacy"}


@asynccontextmanager
async def gateway_before(
    folder: Path, era: str, command: list[str] = sdk.STDIO
) -> AsyncIterator[Listening]:
    """A gateway that exposes all of a server of that era."""
    program, *arguments = command
    path = {"PYTHONPATH": environment()["PYTHONPATH"]}
    server = {"name": "up", "stdio": {"command": program, "args": arguments}, "env": path}
    registry = folder / "registry.json"
    registry.write_text(json.dumps({"servers": [{**server, "expose": "all"}]}))
    await remember(registry, era)
    async with serving(registry, "--no-page") as running:
        yield running


async def remember(registry: Path, era: str) -> None:
    """What a gateway keeps of a server, but with that era alone: this SDK has both."""
    (definition,) = load_registry(str(registry), os.environ).servers
    folder = registry.parent / ".registry" / "upstreams"
    pool = Pool([definition], Setup(listing_cache=RecordFolder(folder)))
    listing = await pool.listing(definition.name)
    await pool.close()
    assert listing.error is None
    kept = folder / f"{definition.identity}.json"
    known = {"era": "handshake"} if era == HANDSHAKE else {"era": "modern", "handshake": False}
    kept.write_text(json.dumps({**json.loads(kept.read_text()), **known}))


class Person:
    """Whoever sits at a client: answers questions, and notes everything that is said."""

    def __init__(self, name: str = "Ann") -> None:
        self.name = name
        self.asked: list[str] = []
        self.logged: list[Any] = []
        self.heard: list[Any] = []

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params.message)
        content: dict[str, Any] = {"username": self.name, "email": f"{self.name}@example.com"}
        return types.ElicitResult(action="accept", content=content)

    async def sample(
        self, context: Any, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        self.asked.append("sampling")
        text = types.TextContent(type="text", text=f"sampled by {self.name}")
        return types.CreateMessageResult(role="assistant", content=text, model="m")

    async def roots(self, context: Any) -> types.ListRootsResult:
        self.asked.append("roots")
        root = types.Root(uri=f"file:///home/{self.name}")  # type: ignore[arg-type]
        return types.ListRootsResult(roots=[root])

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logged.append(params.data)

    async def hear(self, message: Any) -> None:
        self.heard.append(message)

    def client(self, url: str, revision: str, *, askable: bool = True) -> Client:
        options: dict[str, Any] = {"log_level": "info"} if revision == MODERN else {}
        if not askable:
            return Client(url, mode=MODES[revision], message_handler=self.hear, **options)
        return Client(
            url,
            mode=MODES[revision],
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
            list_roots_callback=self.roots,
            logging_callback=self.log,
            message_handler=self.hear,
            **options,
        )


def text_of(result: types.CallToolResult) -> str:
    block = result.content[0]
    assert isinstance(block, types.TextContent)
    return block.text
