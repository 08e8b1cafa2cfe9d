"""Which processes run, of those that a test has started. Linux: it reads /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


class Started:
    """Our child processes that were not there when this was made, zombies included.

    Others run tests in this process too: whatever their tests and fixtures have started
    before is no business of ours, neither while it runs nor when it ends.
    """

    def __init__(self) -> None:
        self._strangers = children()

    @property
    def pids(self) -> set[int]:
        return children() - self._strangers


def children() -> set[int]:
    return {pid for pid, fields in processes() if int(fields[1]) == os.getpid()}


def alive_in(group: int) -> set[int]:
    """The processes of a group that still run."""
    return {pid for pid, fields in processes() if int(fields[2]) == group and fields[0] != "Z"}


def alive(pid: int) -> bool:
    """Is this process running (a zombie is not)?"""
    return state(pid) not in "ZX"


def state(pid: int) -> str:
    """The letter that the system has for it: T where it is stopped, X where it is gone."""
    try:
        return stat(Path(f"/proc/{pid}"))[0]
    except OSError:
        return "X"


def has_owner(port: int, far_port: int) -> bool:
    """Does a process hold this end of a TCP connection? None does before it is accepted, and
    none when it was closed, though the system may still have something to send.
    """
    ends = f":{port:04X}", f":{far_port:04X}"
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, here, there, _, _, _, _, _, _, inode, *_ = line.split()
        if here.endswith(ends[0]) and there.endswith(ends[1]):
            return inode != "0"
    return False


def processes() -> Iterator[tuple[int, list[str]]]:
    """Every process, with what /proc says of it from its state on."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            yield int(entry.name), stat(entry)
        except OSError:
            continue


def stat(entry: Path) -> list[str]:
    return (entry / "stat").read_text().rpartition(")")[2].split()
