"""How much memory a process has."""

from __future__ import annotations

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
