"""An entry taken out of a client's file again, the first way that fits.

  A  the file is as we left it: the bytes of before come back;
  B  it has changed elsewhere, and our bytes are still in it once: they are cut out;
  C  the client has written it anew: the entry is taken out where it stands;
  D  the entry itself has been edited: nothing is changed, unless the user insists.

Servers that it had taken the place of come back: in case A with their bytes, otherwise as entries,
each unless there is one of its name again. Knows bytes, no files.
"""

from __future__ import annotations

from typing import Any

from toolyard.clients.known import KnownClient
from toolyard.clients.ourselves import is_ours
from toolyard.clients.records import LinkRecord, Predecessors, hash_of
from toolyard.files.documents.document import pruned, put, read, take
from toolyard.files.documents.splices import undone
from toolyard.files.documents.spots import MISSING, Spot, entry_at, same, without

# What clients add to an entry, or leave out of it, when they write their file anew.
_ADDED: dict[str, Any] = {"disabled": False, "enabled": True, "autoApprove": [], "alwaysAllow": []}
_ADDED_ANYHOW = {"bundled", "available_tools", "tools", "description"}
_DROPPED = {"type"}
_BEARER = "Bearer "


def taken_back(record: LinkRecord, data: bytes, client: KnownClient, *, force: bool) -> bytes:
    """The bytes without what was put in, and with what it had replaced. Raises ValueError."""
    predecessors = predecessors_of(record, data)
    data = undone(taken_out(record, data, client, force=force), predecessors.splices)
    for addition in reversed(predecessors.entries):
        if entry_at(read(data, client.form), addition.spot) is MISSING:
            data = put(data, client.form, [addition]).data
    return data


def predecessors_of(record: LinkRecord, data: bytes) -> Predecessors:
    """What our entry still stands for; the bytes of a file that has changed fit no longer."""
    if hash_of(data) == record.after:
        return record.predecessors
    return Predecessors(record.predecessors.entries)


def taken_out(record: LinkRecord, data: bytes, client: KnownClient, *, force: bool) -> bytes:
    """The bytes without what was put in. Raises ValueError."""
    if hash_of(data) == record.after:
        return undone(data, record.splices)
    document = read(data, client.form)
    spot, then = record.additions[-1]
    now = entry_at(document, spot)
    if now is MISSING:
        return data
    if not _alike(now, then) and not force:
        raise ValueError(
            f"has the server {record.name!r}, but edited since it was linked; --force takes it "
            "out nevertheless"
        )
    data = _cut_once(record, data, client) or _removed(record, data, client)
    if record.made_container and not entry_at(read(data, client.form), spot.container):
        data = take(data, client.form, [spot.container])
    return data


def _cut_once(record: LinkRecord, data: bytes, client: KnownClient) -> bytes | None:
    if len(record.splices) != 1 or data.count(record.splices[0].new) != 1:
        return None
    candidate = data.replace(record.splices[0].new, record.splices[0].old)
    spot = record.additions[-1].spot
    try:
        remaining = pruned(read(candidate, client.form), spot)
    except ValueError:
        return None
    expected = pruned(without(read(data, client.form), spot), spot)
    return candidate if same(expected, remaining) else None


def _removed(record: LinkRecord, data: bytes, client: KnownClient) -> bytes:
    document = read(data, client.form)
    spots = [
        part.spot
        for part in reversed(record.additions)
        if entry_at(document, part.spot) is not MISSING
    ]
    own, *prompts = spots
    data = take(data, client.form, [own])
    for prompt in prompts:
        if data.count(prompt.name.encode()) == 1:  # nothing refers to it any more
            data = take(data, client.form, [prompt])
    return data


def taken_unrecorded(data: bytes, client: KnownClient, spot: Spot, *, force: bool) -> bytes:
    """Linked by hand, or from elsewhere: only what is certainly this program is taken out."""
    entry = entry_at(read(data, client.form), spot)
    if entry is MISSING:
        return data
    if not is_ours(entry) and not force:
        raise ValueError(
            f"has a server named {spot.name!r} that was not put there by link; --force takes it "
            "out nevertheless"
        )
    return take(data, client.form, [spot])


def _alike(now: Any, then: Any) -> bool:
    """The same but for what clients do to an entry by themselves."""
    if not isinstance(now, dict) or not isinstance(then, dict):
        return False
    for key in {*now, *then}:
        if key not in then:
            if key not in _ADDED_ANYHOW and now[key] != _ADDED.get(key, MISSING):
                return False
        elif key not in now:
            if key not in _DROPPED:
                return False
        elif not _same_part(now[key], then[key]):
            return False
    return True


def _same_part(now: Any, then: Any) -> bool:
    """Some clients write the value of the variable where we have referred to it."""
    if isinstance(now, dict) and isinstance(then, dict):
        return now.keys() == then.keys() and all(_same_part(now[key], then[key]) for key in now)
    if isinstance(now, str) and isinstance(then, str) and then.startswith(_BEARER):
        return now.startswith(_BEARER)
    return bool(now == then)
