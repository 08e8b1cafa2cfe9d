"""Peers to measure against: installed once under .cache/bench, each with the same one tool."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".cache" / "bench"
SDK_SERVER = """
import asyncio, sys
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

async def listed(context, params):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return ListToolsResult(tools=[Tool(name="echo", input_schema=schema)])

async def called(context, params):
    return CallToolResult(content=[TextContent(type="text", text=params.arguments["name"])])

server = Server("peer", on_list_tools=listed, on_call_tool=called)

async def main():
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

if sys.argv[1] == "stdio":
    asyncio.run(main())
else:
    import uvicorn
    uvicorn.run(server.streamable_http_app(), port=int(sys.argv[1]), log_level="error")
"""
FASTMCP_SERVER = """
import sys
from fastmcp import FastMCP
server = FastMCP("peer")

@server.tool
def echo(name: str) -> str:
    return name

if sys.argv[1] == "stdio":
    server.run(show_banner=False)
else:
    port = int(sys.argv[1])
    server.run("http", host="127.0.0.1", port=port, show_banner=False, log_level="error")
"""


def python_with(package: str) -> str:
    """A Python that has one peer installed, and nothing else of ours."""
    folder = HOME / package
    python = folder / "bin" / "python"
    if not (folder / ".done").exists():
        print(f"installing {package} into {folder.relative_to(ROOT)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        uv = Path(sys.executable).parent / "uv"
        target = ["--quiet", "--python", str(python)]
        subprocess.run([str(uv), "pip", "install", *target, package, "uvicorn"], check=True)
        (folder / ".done").touch()
    return str(python)


def script(name: str, text: str) -> str:
    HOME.mkdir(parents=True, exist_ok=True)
    path = HOME / name
    path.write_text(text)
    return str(path)


def commands(argument: str) -> dict[str, list[str]]:
    """How to start each peer: over stdio, or over HTTP on a port."""
    return {
        "mcp SDK": [python_with("mcp"), script("sdk_server.py", SDK_SERVER), argument],
        "FastMCP": [python_with("fastmcp"), script("fastmcp_server.py", FASTMCP_SERVER), argument],
    }


def environment() -> dict[str, str]:
    """Ours, with compiled modules kept: a start is measured as users see it."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    sources = os.environ.get("BENCH_SOURCES", str(ROOT / "src"))  # bench.against names others
    return {**kept, "PYTHONPATH": f"{sources}{os.pathsep}{ROOT}"}
