"""How much memory and processor a process has taken."""

from __future__ import annotations

import os
from pathlib import Path

MIB = 1 << 20


def resident(pid: int) -> int:
    """Bytes of it that are in memory now."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def peak(pid: int) -> int:
    """The most it ever had."""
    status = Path(f"/proc/{pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def processor_seconds(pid: int) -> float:
    """What it has computed, which other programs on the machine do not change."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
