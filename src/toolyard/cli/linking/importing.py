"""toolyard import: take the servers of clients, or of files, into one registry."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from toolyard.cli.env_file import add_to_env_file
from toolyard.cli.linking.chosen import add_machine, machine_of
from toolyard.cli.linking.moving import offer
from toolyard.cli.output import counted, pretty, print_json, table
from toolyard.clients.importing.entries_in import ServerFile, files_in, files_on, named_file
from toolyard.clients.importing.gathering import Gathering
from toolyard.clients.importing.merging import Merging
from toolyard.clients.known import JSONC
from toolyard.clients.machine import Machine
from toolyard.clients.records import LinkRecords
from toolyard.clients.table import CLIENTS, NAMES, client_named
from toolyard.errors import ConfigError
from toolyard.files.documents.document import Addition, put, read
from toolyard.files.documents.spots import Spot
from toolyard.files.foreign.exchange import Original, exchange, look
from toolyard.sources.project.layout import REGISTRY_FILE


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "Nothing is started and no server is contacted. Secrets do not get into the registry: a "
        "variable stands for each, and --env-file writes their values where nobody else reads."
    )
    parser.add_argument(
        "source",
        nargs="*",
        metavar="CLIENT|FILE",
        help="whose servers (default: every client on this machine)",
    )
    parser.add_argument(
        "--out", default=REGISTRY_FILE, metavar="FILE", help="default: registry.json here"
    )
    parser.add_argument("--env-file", metavar="FILE", help="write the secrets there, mode 600")
    parser.add_argument("--project", action="store_true", help="the files of this folder as well")
    parser.add_argument("--skip-disabled", action="store_true", help="leave out disabled servers")
    parser.add_argument("--dry-run", action="store_true", help="print the servers, write nothing")
    parser.add_argument("--json", action="store_true", help="the report, for programs")
    parser.add_argument(
        "--link", action="store_true", help="put the registry in the place of what was imported"
    )
    parser.add_argument("--yes", action="store_true", help="with --link: do not ask")
    add_machine(parser)


def run(options: Namespace) -> int:
    machine = machine_of(options)
    original = _look(options.out)
    own_urls = {url for record in LinkRecords(machine.state).all() for url in record.urls}
    gathering = Gathering(Merging(_present(options.out, original)), own_urls)
    gathering.skip_disabled = options.skip_disabled
    gathering.gather(_files(options, machine))
    if options.dry_run and not options.json:
        print(pretty({"servers": gathering.servers}))
    if not options.dry_run:
        if gathering.servers:
            _write(options, original, gathering)
        if options.env_file is not None:
            add_to_env_file(options.env_file, gathering.variables.values)
    if options.json:
        print_json(_report(options, gathering))
    else:
        print("\n".join(_sentences(options, gathering)), file=sys.stderr)
    if options.link and not options.dry_run:
        return offer(options, machine, gathering)
    named = set(options.source) - set(NAMES)
    return int(any(line.outcome == "broken" and line.file in named for line in gathering.lines))


def _files(options: Namespace, machine: Machine) -> list[ServerFile]:
    """Each file once, however many clients read it. Raises ConfigError."""
    files: list[ServerFile] = []
    names = options.source or list(CLIENTS)
    for name in names:
        if name not in NAMES and (os.path.exists(name) or "/" in name or "." in name):
            files.append(named_file(name, machine, tuple(CLIENTS.values())))
            continue
        client = client_named(name)
        files += files_on(machine, client)
        if options.project:
            files += files_in(os.getcwd(), client)
    return list({os.path.realpath(file.path): file for file in reversed(files)}.values())[::-1]


def _look(path: str) -> Original:
    try:
        return look(path)
    except ValueError as error:
        raise ConfigError.at(path, str(error)) from None
    except OSError as error:
        raise ConfigError.at(path, f"cannot be read: {error.strerror}") from None


def _present(path: str, original: Original) -> list[dict[str, Any]]:
    """The servers that the registry has already."""
    try:
        document = read(original.content, JSONC)
    except ValueError as error:
        raise ConfigError.at(path, str(error)) from None
    servers = document.get("servers", []) if isinstance(document, dict) else None
    if not isinstance(servers, list) or "mcpServers" in document:
        raise ConfigError.at(path, "is not a registry in our own form; see 'registry convert'")
    return [server for server in servers if isinstance(server, dict)]


def _write(options: Namespace, original: Original, gathering: Gathering) -> None:
    if original.content.strip():
        # Each goes to the front of the list: the first comes last.
        additions = [
            Addition(Spot(("servers",), server["name"], "name"), server)
            for server in reversed(gathering.servers)
        ]
    else:
        additions = []
    try:
        data = put(original.content, JSONC, additions).data if additions else _new(gathering)
        exchange(original, data, 0o600)
    except ValueError as error:
        raise ConfigError.at(options.out, str(error)) from None
    except OSError as error:
        raise ConfigError.at(options.out, f"cannot be written: {error.strerror}") from None


def _new(gathering: Gathering) -> bytes:
    return (pretty({"schemaVersion": "1.0", "servers": gathering.servers}) + "\n").encode()


def _report(options: Namespace, gathering: Gathering) -> dict[str, Any]:
    secrets = gathering.variables
    return {
        "registry": options.out,
        "added": [server["name"] for server in gathering.servers],
        "servers": [
            {
                "file": line.file,
                "client": line.client,
                "name": line.name,
                "outcome": line.outcome,
                "note": line.note,
                "lost": list(line.lost),
            }
            for line in gathering.lines
        ],
        "variables": [
            *({"name": name, "characters": len(value)} for name, value in secrets.values.items()),
            *({"name": name, "note": note} for name, note in secrets.unset.items()),
        ],
    }


def _sentences(options: Namespace, gathering: Gathering) -> Iterator[str]:
    yield from table(
        (line.client, line.name or "-", line.outcome, line.note, _lost(line.lost))
        for line in gathering.lines
    )
    imported, files = gathering.servers, {line.file for line in gathering.lines}
    entries = [line for line in gathering.lines if line.name]
    yield (
        f"{counted(len(entries), 'server')} in {counted(len(files), 'file')}: "
        f"{len(imported)} are new in {options.out}"
    )
    secrets = gathering.variables
    if secrets.values and options.env_file is not None:
        yield f"Their secrets are in {options.env_file}: serve with --env-file {options.env_file}"
    elif secrets.values:
        yield "Set these variables where the registry is served, or import with --env-file FILE:"
        yield from (f"  {name}" for name in secrets.values)
    for name, note in secrets.unset.items():
        yield f"Set {name}: {note}"
    if imported and not options.link:
        yield "To have clients use the registry in place of these servers: import with --link"


def _lost(keys: tuple[str, ...]) -> str:
    return f"without {', '.join(keys)}" if keys else ""
