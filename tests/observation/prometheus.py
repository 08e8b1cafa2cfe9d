"""A real Prometheus that scrapes one server each second."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.peers.http1 import fetch
from tests.peers.ports import free_port
from tests.until import until

Ask = Callable[[str], Awaitable[list[Any]]]


@asynccontextmanager
async def prometheus(folder: Path, origin: str) -> AsyncIterator[Ask]:
    """Gives the function that asks it a query, once it answers."""
    folder.mkdir()
    target = origin.removeprefix("http://")
    config = folder / "prometheus.yml"
    config.write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s"},
                "scrape_configs": [
                    {"job_name": "toolyard", "static_configs": [{"targets": [target]}]}
                ],
            }
        )
    )
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )

    async def ask(query: str) -> list[Any]:
        url = f"http://127.0.0.1:{port}/api/v1/query?query={quote(query)}"
        try:
            async with fetch("GET", url, {}) as answer:
                result: list[Any] = json.loads(await answer.body())["data"]["result"]
                return result
        except (OSError, ValueError, KeyError):
            return []

    try:
        await until(lambda: ask("vector(1)"))
        yield ask
    finally:
        process.terminate()
        await process.wait()
