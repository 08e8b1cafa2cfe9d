"""The official suite against our gateway, before scripts and before the official SDK."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.suite import EXPECTED, run
from tests.gateway.listed import until_listed
from tests.peers import sdk_conformance_server as sdk
from tests.peers.sdk_fixtures import PROJECT
from tests.peers.serving import Listening, copied, environment, listening, serving, toolyard

pytestmark = pytest.mark.long


@asynccontextmanager
async def gateway(folder: Path, upstream: dict[str, Any]) -> AsyncIterator[Listening]:
    """A gateway that exposes all of one server, under the names that it has."""
    registry = folder / "registry.json"
    server = {"name": "fixtures", "expose": "all", **upstream}
    registry.write_text(json.dumps({"servers": [server]}))
    async with serving(registry) as running:
        await until_listed(running)
        yield running


def spawned(command: list[str]) -> dict[str, Any]:
    program, *arguments = command
    path = environment()["PYTHONPATH"]
    return {"stdio": {"command": program, "args": arguments}, "env": {"PYTHONPATH": path}}


@asynccontextmanager
async def upstreams(what: str) -> AsyncIterator[dict[str, Any]]:
    if what == "SDK over HTTP":
        async with listening(sdk.HTTP) as server:
            yield {"url": server.url, "transport": "streamablehttp"}
    elif what == "SDK over stdio":
        yield spawned(sdk.STDIO)
    else:
        with copied(PROJECT) as project:
            if what == "scripts over stdio":
                yield spawned(toolyard("serve", project))
                return
            async with serving(project) as server:
                yield {"url": server.url, "transport": "streamablehttp"}


LEGS = ["scripts over HTTP", "scripts over stdio", "SDK over HTTP", "SDK over stdio"]


@pytest.mark.parametrize("revision", EXPECTED)
@pytest.mark.parametrize("what", LEGS)
async def test_the_gateway_loses_nothing(
    what: str, revision: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with upstreams(what) as upstream, gateway(tmp_path, upstream) as server:
        report = await run(server.url, revision)
    with capsys.disabled():
        print(f"\n[gateway, {what}] {report}")
    report.require()
