"""Gateways in Go and Rust, built under .cache/bench where their sources can be had.

A program that is there already is named by a variable: TBXARK_MCP_PROXY, AGENTGATEWAY,
RUST_MCP_PROXY, GO_HOP. What stands behind one is given as the words of a program, or as one URL.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.peers import HOME, script

HOP = Path(__file__).parent / "hop"


class Unavailable(Exception):
    """It cannot be had here; the text says why."""


@dataclass(frozen=True, slots=True)
class Built:
    """How to start one before an upstream, where it answers then, what it calls a tool."""

    command: Callable[[int, list[str]], list[str]]
    path: str = "/mcp"
    tool: str = "{}"


def tbxark(port: int, behind: list[str]) -> list[str]:
    program = built(
        "TBXARK_MCP_PROXY", "mcp-proxy", "go", "install", "github.com/TBXark/mcp-proxy@latest"
    )
    at = f"127.0.0.1:{port}"
    proxy = {"baseURL": f"http://{at}", "addr": at, "name": "peer", "version": "1"}
    server = {"command": only_program(behind)[0], "args": behind[1:]}
    config = {"mcpProxy": {**proxy, "type": "streamable-http"}, "mcpServers": {"up": server}}
    return [program, "--config", script(f"tbxark-{port}.json", json.dumps(config))]


def agentgateway(port: int, behind: list[str]) -> list[str]:
    program = built("AGENTGATEWAY", "agentgateway", "cargo", "install", "agentgateway")
    target = {"name": "up", "stdio": {"cmd": only_program(behind)[0], "args": behind[1:]}}
    route = {"backends": [{"mcp": {"targets": [target]}}]}
    config = {"binds": [{"port": port, "listeners": [{"routes": [route]}]}]}
    # JSON is YAML too.
    return [program, "--file", script(f"agentgateway-{port}.yaml", json.dumps(config))]


def rust_mcp_proxy(port: int, behind: list[str]) -> list[str]:
    """The gateway of that name among the crates, not one of its many namesakes."""
    program = built(
        "RUST_MCP_PROXY", "mcp-proxy", "cargo", "install", "--locked", "mcp-proxy@0.6.0"
    )
    # Strings and lists are written in TOML as they are in JSON.
    backend = (
        [f'transport = "http"\nurl = {json.dumps(behind[0])}']
        if is_url(behind)
        else [
            f'transport = "stdio"\ncommand = {json.dumps(behind[0])}',
            f"args = {json.dumps(behind[1:])}",
        ]
    )
    proxy = '[proxy]\nname = "peer"\nshutdown_timeout_seconds = 0'
    listen = f'[proxy.listen]\nhost = "127.0.0.1"\nport = {port}'
    quiet = '[observability]\nlog_level = "error"'  # the others are asked for silence too
    text = "\n".join((proxy, listen, quiet, '[[backends]]\nname = "up"', *backend, ""))
    return [program, "--config", script(f"rust-mcp-proxy-{port}.toml", text)]


def go_hop(port: int, behind: list[str]) -> list[str]:
    program = built("GO_HOP", "hop", "go", "-C", str(HOP), "install")
    return [program, str(port), *behind]


BUILT = {
    "agentgateway (Rust)": Built(agentgateway),
    "mcp-proxy (Rust)": Built(rust_mcp_proxy, "/", "up/{}"),
    "TBXark/mcp-proxy (Go)": Built(tbxark, "/up/mcp"),
    "a hop on mcp-go (Go)": Built(go_hop),
}


def is_url(behind: list[str]) -> bool:
    return behind[0].startswith("http://")


def only_program(behind: list[str]) -> list[str]:
    if is_url(behind):
        raise Unavailable("how it is told of an HTTP upstream could not be tried")
    return behind


def built(variable: str, name: str, *command: str) -> str:
    """The program: the one that the variable names, or else what the command installs."""
    home = HOME / command[0]  # two of them are called mcp-proxy
    place = home / "bin" / name
    given = os.environ.get(variable)
    if given or place.exists():
        return given or str(place)
    if reason := not_built(home, place, command):
        raise Unavailable(reason)
    return str(place)


@cache
def not_built(home: Path, place: Path, command: tuple[str, ...]) -> str:
    """Install it; if that cannot be, why. Tried once in a run."""
    if shutil.which(command[0]) is None:
        return f"there is no {command[0]} here"
    print(f"building: {' '.join(command)}", file=sys.stderr, flush=True)
    env = {**os.environ, "GOBIN": str(place.parent), "CARGO_INSTALL_ROOT": str(home)}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode or not place.exists():
        words = done.stderr.strip().splitlines() or ["it says nothing"]
        return f"{' '.join(command)}: {words[-1].strip()}"
    return ""
