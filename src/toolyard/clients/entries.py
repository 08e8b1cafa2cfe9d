"""What a server looks like in one client's file, and as a link that a browser can open. Pure."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from toolyard.clients.known import KnownClient
from toolyard.files.documents.document import Addition, put
from toolyard.files.documents.spots import Spot
from toolyard.protocol.call import JsonObject

# What a client would replace in a text that is meant as it is, by how it refers to variables.
_EXPANDED: Mapping[str, re.Pattern[str]] = {
    "${VAR}": re.compile(r"\$(\{|[A-Za-z_])"),
    "${env:VAR}": re.compile(r"\$\{"),
    "${input:toolyard-token}": re.compile(r"\$\{"),
    "{env:VAR}": re.compile(r"\{(env|file):"),
    "${{ secrets.VAR }}": re.compile(r"\$\{\{"),
    # A shell's: everything that has a meaning to one.
    "$VAR": re.compile(r"[$`\\]"),
}


_LONGEST_NAME = 32


class Local(NamedTuple):
    """A server that the client starts."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}


class Remote(NamedTuple):
    """A server that runs already; `variable` is where the client finds its token."""

    url: str
    variable: str = ""


Server: TypeAlias = Local | Remote


def server_name(text: str) -> str:
    """A name that every client takes."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST_NAME].strip("-")
    return plain or "toolyard"


def name_for(client: KnownClient, text: str) -> str:
    """The name itself, if this client takes it."""
    return text if re.fullmatch(client.names, text) else server_name(text)


def entry_of(client: KnownClient, name: str, server: Server) -> JsonObject:
    """Raises ValueError that says what this client cannot do."""
    if not re.fullmatch(client.names, name):
        raise ValueError(f"{client.title} takes no server named {name!r}; choose one with --name")
    for text in _texts(server):
        _check_text(client, text)
    if isinstance(server, Local):
        return dict(_filled(client.local, _local_facts(name, server)))
    if client.remote is None:
        raise ValueError(f"{client.title} starts programs only: link it without --http")
    if server.variable and not client.reference:
        raise ValueError(
            f"{client.title} cannot take a token from a variable, and a token must not be written "
            "into a file: link it without --http, so that it starts the server"
        )
    template = {**client.remote, **(client.token if server.variable else {})}
    return dict(_filled(template, _remote_facts(client, name, server)))


def additions(client: KnownClient, name: str, server: Server) -> tuple[Addition, ...]:
    """Everything that goes into the file. Raises ValueError."""
    entry = entry_of(client, name, server)
    spot = Spot(client.container, name, client.key)
    prompts = []
    if client.prompt is not None and isinstance(server, Remote) and server.variable:
        facts = _remote_facts(client, name, server)
        prompts = [
            Addition(Spot((key,), item["id"], "id"), _filled(item, facts))
            for key, item in client.prompt.items()
        ]
    return (*prompts, Addition(spot, entry))


def document_of(client: KnownClient, name: str, server: Server) -> str:
    """A whole file with this server alone, for people to copy from. Raises ValueError."""
    return put(b"", client.form, additions(client, name, server)).data.decode().rstrip("\n")


def install_link(client: KnownClient, name: str, server: Server) -> str | None:
    """A link that asks the client to add the server; it never carries a token."""
    if not client.install or (isinstance(server, Remote) and server.variable):
        return None
    if "{url}" in client.install and isinstance(server, Local):
        return None
    try:
        entry = entry_of(client, name, server)
    except ValueError:
        return None
    text = json.dumps(entry, separators=(",", ":"))
    named = json.dumps({"name": name, **entry}, separators=(",", ":"))
    parts = {
        "name": name,
        "base64": base64.b64encode(text.encode()).decode(),
        "entry": text,
        "named": named,
        "url": server.url if isinstance(server, Remote) else "",
        "type": "http" if isinstance(server, Remote) else "stdio",
    }
    return client.install.format_map({key: quote(part, safe="") for key, part in parts.items()})


def _texts(server: Server) -> tuple[str, ...]:
    if isinstance(server, Local):
        return (server.command, *server.args, *server.env, *server.env.values())
    return (server.url,)


def _check_text(client: KnownClient, text: str) -> None:
    """Text must stay text: no client lets us say that it should be left alone."""
    pattern = _EXPANDED.get(client.reference)
    match = pattern.search(text) if pattern is not None else None
    if match is not None:
        raise ValueError(f"{client.title} would replace {match[0]!r} in {text!r} by something else")


def _local_facts(name: str, server: Local) -> dict[str, Any]:
    return {
        "$name": name,
        "$command": server.command,
        "$args": list(server.args),
        "$line": [server.command, *server.args],
        "$env": dict(server.env) or None,
    }


def _remote_facts(client: KnownClient, name: str, server: Remote) -> dict[str, Any]:
    return {
        "$name": name,
        "$url": server.url,
        "$variable": server.variable,
        "$bearer": f"Bearer {client.reference.replace('VAR', server.variable)}",
    }


def _filled(template: Any, facts: Mapping[str, Any]) -> Any:
    if isinstance(template, str):
        return facts.get(template, template)
    if isinstance(template, Mapping):
        members = {key: _filled(part, facts) for key, part in template.items()}
        return {key: part for key, part in members.items() if part is not None}
    return [_filled(part, facts) for part in template] if isinstance(template, list) else template
