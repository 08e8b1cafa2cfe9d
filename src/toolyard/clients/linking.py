"""A server put into a client's file, and taken out again.

Both are planned first: what the file would be is known, and checked, before anything is written.
A record is kept before the file is changed, so that a kill between the two leaves a record of
something that is not there, which is harmless, and never an entry that nobody can take back.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

from toolyard.clients.entries import Server, additions
from toolyard.clients.known import KnownClient
from toolyard.clients.machine import Scope
from toolyard.clients.ourselves import is_ours
from toolyard.clients.records import NO_PREDECESSORS, LinkRecord, LinkRecords, Predecessors, hash_of
from toolyard.clients.taking_back import predecessors_of, taken_back, taken_out, taken_unrecorded
from toolyard.errors import ConfigError
from toolyard.files.documents.document import Addition, put, read, take
from toolyard.files.documents.splices import splices_between
from toolyard.files.documents.spots import MISSING, Spot, entry_at, same
from toolyard.files.foreign.exchange import Original, check_writable, discard, exchange, look
from toolyard.files.foreign.lock_folder import locked
from toolyard.files.whole import alone_in


@dataclass(frozen=True, slots=True)
class ClientFile:
    """One client's file on this machine, or in a project."""

    client: KnownClient
    path: str
    scope: Scope = "user"


@dataclass(frozen=True, slots=True)
class Edit:
    """What a file would become; None: it is removed."""

    file: ClientFile
    original: Original
    data: bytes | None
    # What is to be remembered afterwards, and what no longer.
    record: LinkRecord | None = None
    past: LinkRecord | None = None

    @property
    def changes(self) -> bool:
        return self.data != self.original.data


@contextmanager
def alone(records: LinkRecords) -> Iterator[None]:
    """No other process plans or performs an edit meanwhile."""
    os.makedirs(records.folder, mode=0o700, exist_ok=True)
    with alone_in(records.folder):
        yield


def plan_link(
    file: ClientFile,
    name: str,
    server: Server,
    records: LinkRecords,
    instead_of: Collection[str] = (),
) -> Edit:
    """Raises ConfigError; nothing is written. Servers that it replaces come back with unlink."""
    form = file.client.form
    with _told(file.path):
        original = look(file.path)
        parts = additions(file.client, name, server)
        document = read(original.content, form)
        past = records.find(file.path, name)
        entry = entry_at(document, parts[-1].spot)
        superfluous = _present(document, file.client, instead_of)
        if same(entry, parts[-1].entry) and not superfluous:
            return Edit(file, original, original.data, past, past)
        if past is None and entry is not MISSING:
            _check_replaceable(name, entry, instead_of)
            instead_of = {*instead_of, name}
        room, predecessors = _room(file.client, original.content, past, instead_of)
        document = read(room, form)
        missing = tuple(part for part in parts if entry_at(document, part.spot) is MISSING)
        change = put(room, form, missing)
        check_writable(original)
    made_file, made_folders, made_container = _made(
        original, records.at(file.path), _lacks_container(document, parts[-1].spot)
    )
    record = LinkRecord(
        file.client.id,
        name,
        file.path,
        missing,
        change.splices,
        hash_of(room),
        hash_of(change.data),
        made_file,
        made_folders,
        made_container,
        predecessors,
    )
    return Edit(file, original, change.data, record, past)


def _check_replaceable(name: str, entry: Any, instead_of: Collection[str]) -> None:
    """Raises ValueError; what is this program, pasted by somebody, is no obstacle."""
    if name not in instead_of and not is_ours(entry):
        raise ValueError(
            f"has a server named {name!r} that was not put there by link; choose another name "
            "with --name, or take that one out"
        )


def _room(
    client: KnownClient, data: bytes, past: LinkRecord | None, instead_of: Collection[str]
) -> tuple[bytes, Predecessors]:
    """The bytes that our entry goes into, and what came out of them for it."""
    before = NO_PREDECESSORS
    if past is not None:
        before = predecessors_of(past, data)
        data = taken_out(past, data, client, force=False)
    document = read(data, client.form)
    spots = _present(document, client, instead_of)
    entries = tuple(Addition(spot, entry_at(document, spot)) for spot in spots)
    room = take(data, client.form, spots)
    splices = splices_between(data, room)
    return room, Predecessors((*before.entries, *entries), (*before.splices, *splices))


def _made(
    original: Original, records_here: list[LinkRecord], container: bool
) -> tuple[bool, tuple[str, ...], bool]:
    """File, folders, container: what one of ours has made, the last to go takes along."""
    made = (record.made_folders for record in records_here if record.made_folders)
    folders = next(made, None)
    return (
        original.data is None or any(record.made_file for record in records_here),
        tuple(_to_make(original.real)) if folders is None else folders,
        container or any(record.made_container for record in records_here),
    )


def _present(document: Any, client: KnownClient, names: Collection[str]) -> list[Spot]:
    spots = [Spot(client.container, name, client.key) for name in names]
    return [spot for spot in spots if entry_at(document, spot) is not MISSING]


def plan_unlink(file: ClientFile, name: str, records: LinkRecords, *, force: bool = False) -> Edit:
    """Raises ConfigError; nothing is written."""
    with _told(file.path):
        original = look(file.path)
        past = records.find(file.path, name)
        form = file.client.form
        if past is None:
            spot = Spot(file.client.container, name, file.client.key)
            data = taken_unrecorded(original.content, file.client, spot, force=force)
        else:
            data = taken_back(past, original.content, file.client, force=force)
        if original.data is None:
            return Edit(file, original, None, None, past)
        blank = same(read(data, form), read(b"", form))
        is_ours_alone = past is not None and past.made_file and blank
        if data != original.data:
            check_writable(original)
    return Edit(file, original, None if is_ours_alone else data, None, past)


def perform(edit: Edit, records: LinkRecords) -> None:
    """Raises ConfigError, and then the file is what it was."""
    with _told(edit.file.path):
        _make_folders(edit)
        with locked(edit.original.real) if edit.file.client.locks else nullcontext():
            _perform(edit, records)
    if edit.data is None and edit.past is not None:
        _remove_folders(edit.past)


def _perform(edit: Edit, records: LinkRecords) -> None:
    if edit.record is not None:
        records.keep(edit.record)
    try:
        _write(edit)
    except BaseException:
        _remember(records, edit.past, edit.record)
        raise
    if edit.record is None and edit.past is not None:
        records.forget(edit.past)
    _check_read(edit)


def present(file: ClientFile) -> dict[str, Any]:
    """The servers in a client's file, as the client reads it. Raises ConfigError."""
    with _told(file.path):
        document = read(look(file.path).content, file.client.form)
    container = entry_at(document, Spot(file.client.container, "").container)
    if file.client.key and isinstance(container, list):
        return {str(i.get(file.client.key)): i for i in container if isinstance(i, dict)}
    return container if isinstance(container, dict) else {}


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Every reason becomes a sentence about that file."""
    try:
        yield
    except ValueError as error:
        raise ConfigError.at(path, str(error)) from None
    except OSError as error:
        raise ConfigError.at(path, f"cannot be changed: {error.strerror}") from None


def _make_folders(edit: Edit) -> None:
    folder = os.path.dirname(edit.original.real)
    if edit.data is None or os.path.isdir(folder):
        return
    for path in reversed(list(_to_make(edit.original.real))):
        os.mkdir(path, 0o700 if edit.file.scope == "user" else 0o777)


def _to_make(real: str) -> Iterator[str]:
    """The folders above a file that are not there, the innermost first."""
    folder = os.path.dirname(real)
    while not os.path.isdir(folder):
        yield folder
        folder = os.path.dirname(folder)


def _write(edit: Edit) -> None:
    if edit.data is not None:
        if edit.changes:
            exchange(edit.original, edit.data, 0o600 if edit.file.scope == "user" else _shared())
        return
    if edit.original.data is not None:
        discard(edit.original)


def _remove_folders(past: LinkRecord) -> None:
    for folder in past.made_folders:
        with suppress(OSError):  # something else is in it
            os.rmdir(folder)


def _shared() -> int:
    """The mode of a new file that others may read: as the user's umask has it."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _remember(records: LinkRecords, past: LinkRecord | None, record: LinkRecord | None) -> None:
    if past is not None:
        records.keep(past)
    elif record is not None:
        records.forget(record)


def _check_read(edit: Edit) -> None:
    """Read the file again as the client will. Raises ValueError."""
    if edit.data is None or edit.record is None:
        return
    document = read(look(edit.file.path).content, edit.file.client.form)
    spot, entry = edit.record.additions[-1]
    if not same(entry_at(document, spot), entry):
        raise ValueError("was changed by another program right after it was written; look at it")


def _lacks_container(document: Any, spot: Spot) -> bool:
    return entry_at(document, spot.container) is MISSING
