"""Gateways that take one registry case after the other, by editing the file that they serve.

Three processes take turns, so that one loads the next case while another is being asked. A second
registry file holds nothing but a tool whose name says which case has been loaded.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gateway.yard import SCRIPTED
from tests.peers.raw import MODERN
from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import Listening, listening, toolyard
from tests.registry.case import Case
from tests.registry.running import load
from tests.until import until

Json = Any
PROCESSES = 3
MARK = "loaded-"
# Where a registry in any format names the program of a server.
COMMAND = re.compile(r'("(?:command|cmd)"\s*:\s*")([^"$/]+)"')


def write_case(case: Case, folder: Path) -> str:
    """The case's file with its programs in a folder of their own, which stand in for them."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    described: Json = {"log": str(folder / "calls.log")}
    for server in load(case).servers:
        if server.command and "/" not in server.command:
            stand_in(programs / server.command, folder)
            words = " ".join((server.command, *server.args))
            described[words] = {"name": server.name}
            if server.name in case.upstreams:
                described[words]["tools"] = case.upstreams[server.name]
    (folder / "described.json").write_text(json.dumps(described))
    text = case.registry if isinstance(case.registry, str) else json.dumps(case.registry)
    return COMMAND.sub(rf'\g<1>{programs}/\g<2>"', text)


def stand_in(program: Path, folder: Path) -> None:
    python = f'exec "{sys.executable}" -S "{SCRIPTED}" "{folder}/described.json"'
    program.write_text(f'#!/bin/sh\n{python} {program.name} "$@"\n')
    program.chmod(0o755)


@dataclass
class Loaded:
    """A case that a gateway serves."""

    client: HttpClient
    server: Listening
    log: Path

    async def tools(self) -> dict[str, Json]:
        tools = (await self.client.result("tools/list"))["tools"]
        return {tool["name"]: tool for tool in tools if not tool["name"].startswith(MARK)}

    async def call(self, tool: str, arguments: Json) -> Json:
        response = await self.client.request("tools/call", {"name": tool, "arguments": arguments})
        return response["result"] if "result" in response else {"error": response["error"]["code"]}

    def heard(self) -> list[tuple[str, str, Json]]:
        """What reached the servers since this was last asked."""
        if not self.log.exists():
            return []
        lines = self.log.read_text().splitlines()
        self.log.unlink()
        return [tuple(json.loads(line)) for line in lines]

    def warned(self) -> str:
        return self.server.errors


class Gateways:
    def __init__(self, folder: Path, cases: Sequence[Case]) -> None:
        self._folder = folder
        self._cases = list(cases)
        self._staged: set[int] = set()
        self._running: list[tuple[Listening, HttpClient]] = []

    @asynccontextmanager
    async def started(self) -> AsyncIterator[Gateways]:
        async with AsyncExitStack() as stack:
            for number in range(PROCESSES):
                files = [self._file(number, name) for name in ("case", "mark")]
                for file in files:
                    file.write_text("{}")
                command = toolyard("serve", *files, "--http", "127.0.0.1:0", "--no-page")
                server = await stack.enter_async_context(listening(command))
                client = await stack.enter_async_context(
                    over_http(server.url, MODERN, checked=False)
                )
                self._running.append((server, client))
            yield self

    def _file(self, gateway: int, name: str) -> Path:
        return self._folder / f"{name}-{gateway}.json"

    def _stage(self, number: int) -> None:
        """The case first: whoever sees the mark has seen the case."""
        if number in self._staged or number >= len(self._cases):
            return
        self._staged.add(number)
        text = write_case(self._cases[number], self._folder / f"{number}")
        mark = {"name": f"{MARK}{number}", "spec": {"schemaMap": {"mappings": {}}}}
        for name, content in (("case", text), ("mark", json.dumps({"tools": [mark]}))):
            fresh = self._folder / f"{name}.new"
            fresh.write_text(content)
            fresh.replace(self._file(number % PROCESSES, name))

    async def loaded(self, case: Case) -> Loaded:
        number = self._cases.index(case)
        for near in range(number, number + PROCESSES):
            self._stage(near)
        server, client = self._running[number % PROCESSES]

        async def marked() -> bool:
            return f"{MARK}{number}" in await self._names(client)

        await until(marked)
        return Loaded(client, server, self._folder / f"{number}" / "calls.log")

    async def _names(self, client: HttpClient) -> set[str]:
        return {tool["name"] for tool in (await client.result("tools/list"))["tools"]}
