"""toolyard unlink: take this server out of the files of clients."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace

from toolyard.cli.linking.chosen import add_clients, files_for, machine_of
from toolyard.cli.linking.diffs import diff_of
from toolyard.cli.output import counted
from toolyard.clients.linking import ClientFile, Edit, alone, perform, plan_unlink, present
from toolyard.clients.machine import Machine
from toolyard.clients.ourselves import is_ours
from toolyard.clients.records import LinkRecords
from toolyard.clients.table import CLIENTS
from toolyard.errors import ConfigError


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "A file that nobody has changed since is again, byte for byte, what it was; in any other "
        "only the server's own entry goes. What clients keep elsewhere (approvals, logins) stays."
    )
    parser.add_argument("--dry-run", action="store_true", help="show the changes, make none")
    parser.add_argument(
        "--force", action="store_true", help="even an entry that was edited, or made by hand"
    )
    add_clients(parser)


def run(options: Namespace) -> int:
    machine = machine_of(options)
    records = LinkRecords(machine.state)
    failed = 0
    for file, name in _links(options, machine, records):
        try:
            _unlink(file, name, options, records)
        except ConfigError as error:
            print(error, file=sys.stderr)
            failed += 1
    return 1 if failed else 0


def _links(
    options: Namespace, machine: Machine, records: LinkRecords
) -> list[tuple[ClientFile, str]]:
    """Every link of ours that is meant: those on record, and entries that are this program."""
    if options.all and not options.project:
        records_known = [record for record in records.all() if record.client in CLIENTS]
        links = [(ClientFile(CLIENTS[r.client], r.path), r.name) for r in records_known]
        return [link for link in links if options.name in (None, link[1])]
    links = []
    for file in files_for(options, machine):
        names = [options.name] if options.name else list(_names(file, records))
        if not names:
            print(f"{file.client.id}: {file.path} has no server of ours")
        links += [(file, name) for name in names]
    return links


def _names(file: ClientFile, records: LinkRecords) -> dict[str, None]:
    on_record = [
        record.name
        for record in records.all()
        if record.client == file.client.id and record.path == file.path
    ]
    try:
        in_file = [name for name, entry in present(file).items() if is_ours(entry)]
    except ConfigError:
        in_file = []  # a file that cannot be read: whoever takes the record back says why
    return dict.fromkeys([*on_record, *in_file])


def _unlink(file: ClientFile, name: str, options: Namespace, records: LinkRecords) -> None:
    if options.dry_run:
        edit = plan_unlink(file, name, records, force=options.force)
        print(diff_of(edit) if edit.changes else f"{file.client.id}: nothing to change")
        return
    with alone(records):
        edit = plan_unlink(file, name, records, force=options.force)
        perform(edit, records)
    print(f"{file.client.id}: {file.path} {_outcome(edit, name)}")


def _outcome(edit: Edit, name: str) -> str:
    if not edit.changes:
        return f"has no {name}"
    if edit.data is None:
        return "is gone: it was made by link"
    predecessors = edit.past.predecessors.entries if edit.past is not None else ()
    back = f"; what it had replaced is back ({counted(len(predecessors), 'server')})"
    return f"no longer has {name}{back if predecessors else ''}"
