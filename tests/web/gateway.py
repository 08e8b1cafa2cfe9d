"""A project with scripts, two real upstreams and virtual tools, as the page is tried on.

    async with opened() as page: ...

`page.link` is what the program prints; `page.api` speaks to it as the page would.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.peers.http1 import Event, Reply, fetch
from tests.peers.serving import ROOT, Listening, serving
from tests.until import until

DEMO = ROOT / "examples" / "demo"
CONFORMANCE = ROOT / "tests" / "projects" / "conformance"
LINK = r"Page: (\S+/#token=(\S+))"
SECRET = "hunter2-of-the-environment"

FORM = {
    "name": "form",
    "title": "Every kind of field",
    "description": "Gives back the arguments that it got.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "Some text"},
            "count": {"type": "integer", "minimum": 0, "default": 3},
            "ratio": {"type": "number"},
            "flag": {"type": "boolean"},
            "colour": {"type": "string", "enum": ["red", "green", "blue"]},
            "days": {"type": "array", "items": {"enum": ["mon", "tue", "wed"]}},
            "names": {"type": "array", "items": {"type": "string"}},
            "place": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
                "required": ["city"],
            },
            "either": {
                "anyOf": [{"type": "string", "title": "a word"}, {"type": "integer"}],
            },
            "password": {"type": "string", "format": "password"},
        },
        "required": ["text"],
    },
}
ECHO = """#!/usr/bin/env python3
import json, os
print(json.dumps({"got": json.loads(os.environ["MCP_TOOL_ARGS_JSON"])}))
"""
ROWS = {"name": "rows", "description": "A table", "inputSchema": {"type": "object"}}
TABLE = """#!/usr/bin/env python3
import json
print(json.dumps({"cities": [{"name": "Oslo", "people": 709}, {"name": "Rome", "people": 2748}]}))
"""


@dataclass(frozen=True, slots=True)
class Api:
    origin: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def get(self, path: str) -> Any:
        async with fetch("GET", f"{self.origin}/api/{path}", self.headers) as reply:
            assert reply.status == 200, (reply.status, await reply.body())
            return await reply.json()

    async def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        async with fetch(method, f"{self.origin}/api/{path}", self.headers, data) as reply:
            return reply.status, await reply.json()

    @asynccontextmanager
    async def call(self, method: str, params: Mapping[str, Any]) -> AsyncIterator[Reply]:
        body = json.dumps({"method": method, "params": params}).encode()
        async with fetch("POST", f"{self.origin}/api/calls", self.headers, body) as reply:
            yield reply

    async def events_of(self, name: str, arguments: Mapping[str, Any]) -> list[tuple[str, Any]]:
        async with self.call("tools/call", {"name": name, "arguments": arguments}) as reply:
            return [told(event) async for event in reply.events()]


def told(event: Event) -> tuple[str, Any]:
    return event.event, json.loads(event.data or "null")


@dataclass(frozen=True, slots=True)
class Opened:
    server: Listening
    project: Path
    link: str
    api: Api

    @property
    def registry(self) -> Path:
        return self.project / "registry.json"


@asynccontextmanager
async def opened(
    *flags: str, env: Mapping[str, str] | None = None, project: Path | None = None
) -> AsyncIterator[Opened]:
    with tempfile.TemporaryDirectory(prefix="toolyard-page-") as folder:
        path = project or make_project(Path(folder))
        async with serving(path, *flags, env={"DEMO_SECRET": SECRET, **(env or {})}) as server:
            link, token = await found(server)
            api = Api(server.origin, token)
            await settled(api)
            yield Opened(server, path, link, api)


async def settled(api: Api) -> None:
    """A list waits until the upstreams have said what they have, but not for a slow start."""
    await _list(api)
    await until(lambda: _all_have_started(api))
    await _list(api)


async def _list(api: Api) -> None:
    async with api.call("tools/list", {}) as reply:
        assert [event.event async for event in reply.events()][-1] == "result"


async def _all_have_started(api: Api) -> bool:
    async with fetch("GET", f"{api.origin}/status", api.headers) as reply:
        assert reply.status == 200, reply.status
        return all(server["state"] != "starting" for server in (await reply.json())["servers"])


async def found(server: Listening) -> tuple[str, str]:
    """The link is printed right after the endpoint: it may take the reader another moment."""
    printed = await server.says(LINK)
    return printed[1], printed[2]


def make_project(folder: Path) -> Path:
    project = folder / "yard"
    shutil.copytree(DEMO, project)
    add_tool(project, FORM, ECHO)
    add_tool(project, ROWS, TABLE)
    (project / "registry.json").write_text(REGISTRY_HEAD + json.dumps(registry(), indent=2))
    return project


def add_tool(project: Path, metadata: Mapping[str, Any], program: str) -> None:
    folder = project / "tools" / str(metadata["name"])
    folder.mkdir(parents=True)
    (folder / "tool.meta.json").write_text(json.dumps(metadata))
    script = folder / "tool.py"
    script.write_text(program)
    script.chmod(0o755)


REGISTRY_HEAD = "// Tools for the page to show.\n"


def registry() -> dict[str, Any]:
    here = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    peer = {"command": sys.executable, "args": ["-m", "tests.peers.sdk_conformance_server"]}
    yard = {"command": sys.executable, "args": ["-m", "toolyard", "serve", str(CONFORMANCE)]}
    return {
        "schemaVersion": "1.0",
        "servers": [
            {"name": "peer", "stdio": peer, "env": here, "expose": ["test_simple_text"]},
            {"name": "yard", "stdio": yard, "env": here, "expose": "all"},
            {"name": "gone", "stdio": {"command": "/nonexistent/program"}, "expose": "all"},
        ],
        "schemas": {"Who": {"type": "object", "properties": {"name": {"type": "string"}}}},
        "tools": [
            {
                "name": "ahoy",
                "source": "greet",
                "title": "Pirate greeting",
                "description": "Says ahoy",
                "inputSchema": {"$ref": "#/schemas/Who"},
                "defaults": {"style": "pirate"},
                "version": "1.2.0",
            },
            {
                "name": "word_count",
                "source": "text_stats",
                "outputSchema": {
                    "type": "object",
                    "properties": {"words": {"type": "integer", "source_field": "$.words"}},
                },
            },
            {"name": "sealed", "source": "form", "defaults": {"colour": "${DEMO_SECRET}"}},
            {"name": "lost", "server": "yard", "originalName": "no_such_tool"},
        ],
    }
