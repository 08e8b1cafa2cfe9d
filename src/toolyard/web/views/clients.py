"""How each client that we know reaches this server: what to paste where, and a link to click."""

from __future__ import annotations

import shlex

from toolyard.clients.entries import Local, Remote, Server, document_of, install_link, name_for
from toolyard.clients.known import KnownClient
from toolyard.clients.machine import whereabouts
from toolyard.clients.table import CLIENTS
from toolyard.protocol.call import JsonObject
from toolyard.web.window import Window

TOKEN = "TOOLYARD_TOKEN"


def clients(window: Window, url: str) -> list[JsonObject]:
    """By name; those that can reach it neither way are left out."""
    place = window.place
    remote = Remote(place.gateway.url if place.gateway else url, TOKEN if place.needs_token else "")
    paths = [*([place.project] if place.project else []), *place.registries]
    # A copy of somebody else's server cannot be started.
    local = None if place.gateway else Local(place.program, ("serve", *paths))
    name = str(window.identity.info.get("name", ""))
    views = [_client(client, name, remote, local) for client in CLIENTS.values() if client.writes]
    return sorted((view for view in views if view["recipes"]), key=_title)


def _title(view: JsonObject) -> str:
    return str(view["label"]).casefold()


def _client(client: KnownClient, name: str, remote: Remote, local: Local | None) -> JsonObject:
    own = name_for(client, name)
    recipes = _recipe(client, own, remote, f"{whereabouts(client)}; this server must be running")
    if recipes:
        recipes.append({"where": "Or let a command do it", "code": _command(client, own, remote)})
    if local is not None:
        recipes += _recipe(client, own, local, f"{whereabouts(client)}; it starts its own copy")
    link = install_link(client, own, remote) or (local and install_link(client, own, local))
    label = {"id": client.id, "label": client.title, "after": client.after}
    return {**label, "recipes": recipes, "link": link or None}


def _recipe(client: KnownClient, name: str, server: Server, where: str) -> list[JsonObject]:
    try:
        return [{"where": where, "code": document_of(client, name, server)}]
    except ValueError:  # not in this way
        return []


def _command(client: KnownClient, name: str, remote: Remote) -> str:
    words = ["toolyard", "link", client.id, "--name", name, "--http", remote.url]
    return shlex.join([*words, *(["--token-env", remote.variable] if remote.variable else [])])
