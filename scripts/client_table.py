"""The table of clients in docs/clients.md, made of the table that link uses."""

from __future__ import annotations

from toolyard.clients.known import KnownClient
from toolyard.clients.machine import SYSTEMS, Machine
from toolyard.clients.table import CLIENTS

HEAD = (
    "| name | client | your file (Linux; macOS; Windows, where they differ) | a project's "
    "| HTTP | token |\n|---|---|---|---|---|---|\n"
)


def client_table() -> str:
    return HEAD + "".join(map(_row, CLIENTS.values()))


def _row(client: KnownClient) -> str:
    names = ", ".join(f"`{name}`" for name in (client.id, *client.aliases))
    cells = _cells(client) if client.writes else ("import only", "-", "-", "-")
    return f"| {names} | {client.title} | {' | '.join(cells)} |\n"


def _cells(client: KnownClient) -> tuple[str, str, str, str]:
    paths = dict.fromkeys(Machine("~", system).file_of(client) for system in SYSTEMS)
    files = "; ".join(_shown(path) for path in paths if path) or "-"
    project = f"`{client.project[0]}`" if client.project else "-"
    token = "asks once" if client.prompt else "by variable" if client.reference else "-"
    return files, project, "no" if client.remote is None else "yes", token


def _shown(path: str) -> str:
    return f"`{path.replace('~/AppData/Roaming', '%APPDATA%')}`"
