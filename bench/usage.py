"""What a program and its children use: CPU and memory, from /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> Iterator[int]:
    """The process and everything below it that still runs."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += children.get(one, [])


def without(pid: int, word: str) -> list[int]:
    """The family but for those whose command line has the word in it."""
    return [one for one in family(pid) if one == pid or word not in command_line(one)]


def command_line(pid: int) -> str:
    try:
        return (PROC / str(pid) / "cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def cpu_seconds(pids: Iterable[int]) -> float:
    """What they have spent, by the clock that each process has: /proc counts in steps of 10 ms."""
    return sum(time.clock_gettime(~pid << 3 | 2) for pid in pids)


def megabytes(pids: list[int]) -> float:
    """Memory that is theirs: shared pages count in part."""
    total = 0
    for pid in pids:
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024
