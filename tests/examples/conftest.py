"""Serve a private copy of an example over stdio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.peers.raw import StdioClient, over_stdio
from tests.peers.serving import ROOT, copied, toolyard

EXAMPLES = ROOT / "examples"
HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"
BOTH_ERAS = (HANDSHAKE, MODERN)


@asynccontextmanager
async def served(
    name: str, revision: str = HANDSHAKE, **options: Any
) -> AsyncIterator[tuple[StdioClient, Path]]:
    """A client of the example, and the copy that it serves."""
    with copied(EXAMPLES / name) as project:
        async with over_stdio(toolyard("serve", project), revision, **options) as client:
            yield client, project


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
