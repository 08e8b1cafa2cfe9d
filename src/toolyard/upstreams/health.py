"""How an upstream is doing, as the page and /status show it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote

State = Literal["idle", "starting", "up", "down", "disabled"]
SHORTEST_SECRET = 4


@dataclass(frozen=True, slots=True)
class Health:
    server: str
    state: State
    reason: str | None = None  # why it is down or disabled
    transport: str | None = None
    revision: str | None = None
    info: str | None = None  # what it calls itself
    connections: int = 0
    restarts: int = 0
    calls: int = 0
    last_error: str | None = None
    stderr: str = ""
    retry_in: float | None = None


def masked(text: str, secrets: Iterable[str]) -> str:
    """Without the values that came from variables. Very short ones would blot out all text."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            for spelt in (secret, json.dumps(secret)[1:-1], quote(secret, safe="")):
                text = text.replace(spelt, "***")
    return text
