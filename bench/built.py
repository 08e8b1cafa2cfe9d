"""Gateways in Go and Rust, built under .cache/bench where their sources can be had.

A program that is there already is named by a variable: TBXARK_MCP_PROXY, AGENTGATEWAY.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from bench.peers import HOME, script


class Unavailable(Exception):
    """It cannot be built here; the text says why."""


@dataclass(frozen=True, slots=True)
class Built:
    """How to start one before an upstream, and where it answers then."""

    command: Callable[[int, list[str]], list[str]]
    path: str = "/mcp"


def tbxark(port: int, upstream: list[str]) -> list[str]:
    program = built(
        "TBXARK_MCP_PROXY", "mcp-proxy", ["go", "install", "github.com/TBXark/mcp-proxy@latest"]
    )
    at = f"127.0.0.1:{port}"
    proxy = {"baseURL": f"http://{at}", "addr": at, "name": "peer", "version": "1"}
    server = {"command": upstream[0], "args": upstream[1:]}
    config = {"mcpProxy": {**proxy, "type": "streamable-http"}, "mcpServers": {"up": server}}
    return [program, "--config", script("tbxark.json", json.dumps(config))]


def agentgateway(port: int, upstream: list[str]) -> list[str]:
    program = built(
        "AGENTGATEWAY", "agentgateway", ["cargo", "install", "agentgateway", "--root", str(HOME)]
    )
    target = {"name": "up", "stdio": {"cmd": upstream[0], "args": upstream[1:]}}
    route = {"backends": [{"mcp": {"targets": [target]}}]}
    config = {"binds": [{"port": port, "listeners": [{"routes": [route]}]}]}
    # JSON is YAML too.
    return [program, "--file", script("agentgateway.yaml", json.dumps(config))]


BUILT = {
    "TBXark/mcp-proxy (Go)": Built(tbxark, "/up/mcp"),
    "agentgateway (Rust)": Built(agentgateway),
}


def built(variable: str, name: str, command: list[str]) -> str:
    """The program: the one that the variable names, or else what the command installs."""
    place = HOME / "bin" / name
    given = os.environ.get(variable)
    if given or place.exists():
        return given or str(place)
    if shutil.which(command[0]) is None:
        raise Unavailable(f"there is no {command[0]} here")
    env = {**os.environ, "GOBIN": str(place.parent)}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode or not place.exists():
        words = done.stderr.strip().splitlines() or ["it says nothing"]
        raise Unavailable(f"{' '.join(command)}: {words[-1].strip()}")
    return str(place)
