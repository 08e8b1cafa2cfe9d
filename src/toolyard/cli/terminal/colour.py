"""Colour where a terminal shows it and nobody has said NO_COLOR; plain text everywhere else."""

from __future__ import annotations

import os
import sys
from typing import Literal, TextIO

Shade = Literal["bold", "dim", "red", "green", "yellow"]
_CODES: dict[Shade, str] = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
# The signs of a report, by how bad it is.
SIGNS: dict[str, tuple[str, Shade]] = {
    "ok": ("✓", "green"),
    "info": ("·", "dim"),
    "warning": ("⚠", "yellow"),
    "error": ("✗", "red"),
}


def painted(text: str, shade: Shade, stream: TextIO | None = None) -> str:
    """For stdout, unless another stream is named."""
    if not text or not _in_colour(stream or sys.stdout):
        return text
    return f"\x1b[{_CODES[shade]}m{text}\x1b[0m"


def sign(severity: str) -> str:
    text, shade = SIGNS[severity]
    return painted(text, shade)


def _in_colour(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()
