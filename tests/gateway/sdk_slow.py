"""A server on the official SDK with one tool that never ends by itself, and says when it is ended.

python -m tests.gateway.sdk_slow FOLDER     # files there tell of the calls
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
from mcp.server import MCPServer

server = MCPServer("slow", version="1.0.0")
FOLDER = Path(sys.argv[-1])


@server.tool()
async def wait(name: str) -> str:
    """Waits until it is cancelled."""
    (FOLDER / f"{name}.started").touch()
    try:
        await anyio.sleep_forever()
    finally:
        (FOLDER / f"{name}.ended").touch()
    return "never"


if __name__ == "__main__":
    server.run("stdio")
