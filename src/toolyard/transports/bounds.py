"""How much of anything a client may make us hold. Knows no settings."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Bounds:
    batch: int = 100  # messages in one array
    # Bytes of answers that are kept for clients that were cut off.
    replay_session: int = 16 * MIB
    replay_all: int = 256 * MIB
