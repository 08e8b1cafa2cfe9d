"""How long a registry of many virtual tools takes to be loaded anew.

    python -m bench.registry [--tools 1000] [--rounds 5]

In one process: the file read, checked, laid over the listings and made a catalog. Then the same
edit of a file that a real gateway serves, from the saving of it to the news of it at a client,
which includes the time until the gateway looks at the file again (100 ms at most).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.page import gateway
from tests.peers.raw import MODERN
from tests.peers.raw_http import HttpClient, over_http
from toolyard.catalog.entries import Entries
from toolyard.catalog.listing import Listing
from toolyard.catalog.snapshot import Catalog, assemble
from toolyard.sources.gateway import RegistryFiles
from toolyard.sources.registry.chain.overlay import lay_over
from toolyard.upstreams.pool import Pool

Json = Any
SCRIPTED = str(Path(__file__).resolve().parent.parent / "tests" / "gateway" / "scripted.py")
SEARCH: Json = {
    "name": "search",
    "description": "Search for something, in many ways",
    "inputSchema": {
        "type": "object",
        "properties": {name: {"type": "string"} for name in ("q", "sort", "order", "page")},
        "required": ["q"],
    },
}


def virtual(number: int, edition: int) -> Json:
    item = {"type": "object", "properties": {"name": {"source_field": "$.full_name"}}}
    found = {"type": "array", "source_field": "$.items[*]", "items": item}
    return {
        "name": f"search_{number}",
        "source": "search",
        "description": f"Search number {number}, edition {edition}",
        "defaults": {"sort": f"by-{number}"},
        "inputSchema": {"$ref": "#/schemas/Query"},
        "outputSchema": {"type": "object", "properties": {"found": found}},
    }


def content(folder: Path, tools: int, edition: int) -> str:
    described = folder / "described.json"
    described.write_text(json.dumps({"name": "u", "tools": [SEARCH]}))
    stdio = {"command": sys.executable, "args": ["-S", SCRIPTED, str(described)]}
    query = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    registry = {
        "servers": [{"name": "u", "stdio": stdio}],
        "schemas": {"Query": query},
        "tools": [
            {"name": "search", "server": "u"},
            *(virtual(number, edition) for number in range(tools)),
        ],
    }
    return json.dumps(registry)


def save(file: Path, text: str) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(text)
    fresh.replace(file)


async def in_process(folder: Path, tools: int, rounds: int) -> list[float]:
    file = folder / "registry.json"
    files = RegistryFiles([str(file)])
    listings = {"u": Listing("u", (SEARCH,))}
    older: Catalog | None = None
    taken = []
    for edition in range(rounds):
        save(file, content(folder, tools, edition))
        began = time.perf_counter()
        registries = files.load(Entries())
        pool = Pool(registries.servers)
        entries = lay_over(registries.files[0], Entries(), listings, pool.targets)
        catalog = assemble([entries])
        if older is not None:
            assert catalog.changed_since(older)
        taken.append(time.perf_counter() - began)
        older = catalog
        await pool.close()
    return taken[1:]


async def served(folder: Path, tools: int, rounds: int) -> list[float]:
    file = folder / "registry.json"
    save(file, content(folder, tools, -1))
    taken = []
    async with (
        gateway(file, "--no-page") as running,
        over_http(running.url, MODERN, checked=False) as client,
    ):
        assert "edition -1" in await listed(client)
        await client.subscribe(toolsListChanged=True)
        for edition in range(rounds):
            save(file, content(folder, tools, edition))
            began = time.perf_counter()
            await client.notification("notifications/tools/list_changed")
            taken.append(time.perf_counter() - began)
            assert f"edition {edition}" in await listed(client)
    return taken


async def listed(client: HttpClient) -> str:
    return json.dumps(await client.result("tools/list"))


async def measure(tools: int, rounds: int) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory(prefix="toolyard-bench-") as name:
        folder = Path(name)
        loaded = await in_process(folder, tools, rounds + 1)
        edited = await served(folder, tools, rounds)
    return [
        (f"{tools:,} virtual tools loaded anew, in one process", in_ms(loaded)),
        ("the same through a gateway, from saving the file to the client's notice", in_ms(edited)),
    ]


def in_ms(seconds: list[float]) -> str:
    return f"{statistics.median(seconds) * 1000:.0f} ms"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    options = parser.parse_args()
    found = asyncio.run(measure(options.tools, options.rounds))
    print("| a registry edited while it is served | median |\n|---|---|")
    print("\n".join(f"| {what} | {told} |" for what, told in found))
    print("\nGoal: 1,000 virtual tools in under 300 ms.")
