"""What a gateway told its model last time, for the first `initialize` of the next start.

That is answered before any server has been asked, and their instructions belong into it. What was
kept is used only while everything else that it was made of is as it was: the registry files, the
rules, our own instructions, the bound. Imported before the first answer: nothing heavy.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from toolyard.files.stamp import stamp
from toolyard.files.whole import write_whole
from toolyard.settings import Settings

_FILE = os.path.join(".registry", "instructions.json")


def recall(paths: Sequence[str], settings: Settings, own: str | None) -> str | None:
    """None where nothing was kept, or not for this."""
    if not paths:
        return None
    try:
        with open(_place(paths), "rb") as file:
            memory = json.load(file)
        is_for_this = memory["for"] == _circumstances(paths, settings, own)
        text = memory["instructions"] if is_for_this else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return text if isinstance(text, str) else None


def keep(paths: Sequence[str], settings: Settings, own: str | None, text: str | None) -> None:
    if not paths or text == recall(paths, settings, own):
        return
    memory = {"for": _circumstances(paths, settings, own), "instructions": text}
    place = _place(paths)
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        write_whole(place, json.dumps(memory).encode(), sync=False)
    except OSError:
        return  # the next start does without


def _place(paths: Sequence[str]) -> str:
    return os.path.join(os.path.dirname(os.path.abspath(paths[0])), _FILE)


def _circumstances(paths: Sequence[str], settings: Settings, own: str | None) -> list[str]:
    files = [f"{path} {stamp(path)}" for path in paths]
    return [*files, repr(settings.rules), repr(own), repr(settings.max_instructions_bytes)]
