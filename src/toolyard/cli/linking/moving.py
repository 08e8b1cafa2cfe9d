"""toolyard import --link: the registry in the place of the servers that were taken into it."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from toolyard.cli.output import counted
from toolyard.cli.project.start import command_line
from toolyard.clients.entries import Local
from toolyard.clients.importing.gathering import Gathering
from toolyard.clients.linking import ClientFile, alone, perform, plan_link
from toolyard.clients.machine import Machine
from toolyard.clients.records import LinkRecords
from toolyard.clients.table import CLIENTS
from toolyard.errors import ConfigError

_NAME = "toolyard"


def offer(options: Namespace, machine: Machine, gathering: Gathering) -> int:
    """Ask for each client's own file, one by one."""
    failed = 0
    for client in CLIENTS.values():
        path = machine.file_of(client)
        names = gathering.names_by_file.get(path or "", [])
        if path is None or not names or not client.writes:
            continue
        if not options.yes and not _agrees(f"{counted(len(names), 'server')} in {path}"):
            print(f"{client.id}: left as it is", file=sys.stderr)
            continue
        try:
            _move(ClientFile(client, path), names, options, machine)
        except ConfigError as error:
            print(error, file=sys.stderr)
            failed += 1
    return 1 if failed else 0


def _agrees(what: str) -> bool:
    if not sys.stdin.isatty():
        print(f"{what} could be replaced: say --yes", file=sys.stderr)
        return False
    print(f"Replace {what} by one, the registry? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _move(file: ClientFile, names: list[str], options: Namespace, machine: Machine) -> None:
    command, *args = command_line(options.program)
    words = [*args, "serve", os.path.abspath(options.out)]
    if options.env_file is not None:
        words += ["--env-file", os.path.abspath(options.env_file)]
    records = LinkRecords(machine.state)
    with alone(records):
        perform(plan_link(file, _NAME, Local(command, tuple(words)), records, names), records)
    count = counted(len(set(names)), "server")
    print(f"{file.client.id}: {_NAME} is in {file.path} in place of {count}. {file.client.after}")
