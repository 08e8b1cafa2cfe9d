"""toolyard link --list: which clients are here, what they are linked to, whether that works."""

from __future__ import annotations

import asyncio
import json
import os
from argparse import Namespace
from typing import Any

from toolyard.cli.client.peer import connected
from toolyard.cli.output import print_json, table
from toolyard.clients.importing.entries_in import RawServer, ServerFile
from toolyard.clients.importing.references import Unknown, translated
from toolyard.clients.importing.spellings import Unusable, native_of
from toolyard.clients.linking import ClientFile, present
from toolyard.clients.machine import Machine
from toolyard.clients.ourselves import URLS, is_ours, words_of
from toolyard.clients.records import LinkRecords
from toolyard.clients.table import CLIENTS
from toolyard.errors import ConfigError
from toolyard.sources.registry.format.load import read_registry

_PATIENCE = 20.0


def show_links(options: Namespace, machine: Machine) -> int:
    rows = list(_rows(machine, LinkRecords(machine.state)))
    verdicts = asyncio.run(_verdicts([row["entry"] for row in rows if "entry" in row]))
    for row in rows:
        entry = row.pop("entry", None)
        if entry is not None:
            row["works"] = verdicts[json.dumps(entry, sort_keys=True)]
    if options.json:
        print_json(rows)
    else:
        for line in table([_cells(row) for row in rows if row["here"]]):
            print(line)
        absent = ", ".join(row["client"] for row in rows if not row["here"])
        print(f"not here: {absent}" if absent else "every client that we know is here")
    return 0


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    if "error" in row:
        state = row["error"]
    elif "server" in row:
        state = f"{row['server']}: {row['to']}: {row['works']}"
    else:
        state = "not linked"
    return row["client"], row["file"] or "", state


def _rows(machine: Machine, records: LinkRecords) -> list[dict[str, Any]]:
    """A row for each link, and one for each client without any."""
    rows = []
    records_here = [r for r in records.all() if r.client in CLIENTS]
    for client in CLIENTS.values():
        if not client.writes:
            continue
        paths = [machine.file_of(client), *(r.path for r in records_here if r.client == client.id)]
        files = [ClientFile(client, path) for path in dict.fromkeys(p for p in paths if p)]
        here = machine.has(client)
        links = [row for file in files for row in _links_in(file, records_here)]
        first = files[0].path if files else None
        rows += links or [{"client": client.id, "file": first, "here": here}]
    return rows


def _links_in(file: ClientFile, records_here: list[Any]) -> list[dict[str, Any]]:
    head = {"client": file.client.id, "file": file.path, "here": True}
    names = {r.name for r in records_here if r.path == file.path and r.client == file.client.id}
    if not os.path.lexists(file.path) and not names:
        return []
    try:
        entries = present(file)
    except ConfigError as error:
        return [{**head, "error": error.problems[0].message}]
    rows = []
    for name in sorted(names - set(entries)):
        rows.append({**head, "server": name, "to": "-", "works": "somebody has taken it out"})
    for name, entry in entries.items():
        if name in names or is_ours(entry):
            raw = RawServer(ServerFile(file.client, file.path), name, entry)
            rows.append({**head, "server": name, "to": _target(entry), "entry": _native(raw)})
    return rows


def _target(entry: dict[str, Any]) -> str:
    urls = [entry[key] for key in URLS if key in entry]
    return str(urls[0]) if urls else " ".join(words_of(entry))


def _native(raw: RawServer) -> dict[str, Any]:
    try:
        return translated(native_of(raw)[0], raw)
    except (Unusable, Unknown) as error:
        return {"disabled": str(error)}


async def _verdicts(entries: list[dict[str, Any]]) -> dict[str, str]:
    """Each different server is started, or called, once."""
    unique = {json.dumps(entry, sort_keys=True): entry for entry in entries}
    verdicts = await asyncio.gather(*(_verdict(entry) for entry in unique.values()))
    return dict(zip(unique, verdicts, strict=True))


async def _verdict(entry: dict[str, Any]) -> str:
    document = json.dumps({"servers": [{**entry, "name": "linked"}]}).encode()
    definition = read_registry(document, "link", os.environ).servers[0]
    if definition.disabled is not None:
        return f"off: {definition.disabled}"
    try:
        async with asyncio.timeout(_PATIENCE), connected(definition, _PATIENCE) as pool:
            listing = await pool.listing(definition.name)
    except TimeoutError:
        return f"does not answer within {_PATIENCE:g} s"
    return "works" if listing.error is None else f"does not work: {listing.error}"
