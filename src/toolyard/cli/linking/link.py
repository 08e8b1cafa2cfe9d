"""toolyard link: put this server into the files of clients."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from toolyard.cli.linking.chosen import (
    add_clients,
    add_server,
    files_for,
    local_server,
    machine_of,
    server_for,
)
from toolyard.cli.linking.diffs import diff_of
from toolyard.cli.linking.links_shown import show_links
from toolyard.clients.entries import Local, Remote, server_name
from toolyard.clients.linking import ClientFile, alone, perform, plan_link
from toolyard.clients.machine import Machine
from toolyard.clients.records import LinkRecords
from toolyard.errors import ConfigError


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "Nothing else in a client's file is changed: comments, order and line ends stay, and what "
        "was there is kept beside it. 'toolyard unlink' takes the server out again."
    )
    parser.add_argument("--list", action="store_true", help="show clients, and what is linked")
    parser.add_argument("--json", action="store_true", help="with --list: for programs")
    parser.add_argument("--dry-run", action="store_true", help="show the changes, make none")
    parser.add_argument(
        "--force", action="store_true", help="even where the client does not seem to be installed"
    )
    add_clients(parser)
    add_server(parser)


def run(options: Namespace) -> int:
    machine = machine_of(options)
    if options.list:
        return show_links(options, machine)
    files = files_for(options, machine)
    local = local_server(options)
    remote = _remote(options)
    name = options.name or server_name(local[0] if local is not None else "toolyard")
    failed: list[str] = []
    for file in files:
        try:
            _link(file, name, options, machine, remote, local[1] if local else None)
        except ConfigError as error:
            print(error, file=sys.stderr)
            failed.append(file.client.id)
    if failed:
        words = f"{options.program} config --client {failed[0]}"
        print(f"To paste it yourself: {words}", file=sys.stderr)
    return 1 if failed else 0


def _remote(options: Namespace) -> Remote | None:
    if options.http is None:
        if options.token_env:
            raise ConfigError.at("--token-env", "goes with --http")
        return None
    if not options.http.startswith(("http://", "https://")):
        raise ConfigError.at("--http", f"expected an http(s) URL, not {options.http!r}")
    return Remote(options.http, options.token_env)


def _link(
    file: ClientFile,
    name: str,
    options: Namespace,
    machine: Machine,
    remote: Remote | None,
    local: Local | None,
) -> None:
    client = file.client
    if file.scope == "user" and not (options.force or options.file or machine.has(client)):
        folder = os.path.dirname(file.path)
        raise ConfigError.at(
            client.id,
            f"{client.title} does not seem to be installed (there is no {folder}); "
            "--force makes the file nevertheless",
        )
    try:
        server, why = server_for(client, name, remote, local)
    except ValueError as error:
        raise ConfigError.at(client.id, str(error)) from None
    records = LinkRecords(machine.state)
    if options.dry_run:
        print(diff_of(plan_link(file, name, server, records)))
        return
    with alone(records):
        edit = plan_link(file, name, server, records)
        perform(edit, records)
    if not edit.changes:
        print(f"{client.id}: {file.path} has {name} already")
        return
    way = "over HTTP" if isinstance(server, Remote) else "as a program that it starts"
    print(f"{client.id}: {name} is in {file.path}, {way}. {client.after}")
    for note in _notes(file, server, why, machine):
        print(f"  {note}", file=sys.stderr)


def _notes(file: ClientFile, server: Remote | Local, why: str, machine: Machine) -> list[str]:
    notes = [f"not over HTTP: {why}"] if why else []
    managed = machine.managed_by(file.client)
    if managed is not None:
        notes.append(f"an administrator's {managed} makes every other file count for nothing")
    if file.scope == "project" and isinstance(server, Local):
        notes.append("it names paths of this machine: others who share the file need --http")
    if isinstance(server, Remote) and server.variable:
        notes.append(f"set {server.variable} where the client is started")
    return notes
