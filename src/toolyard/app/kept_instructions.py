"""What a stdio gateway told its model last time, for the next `initialize`.

That is answered before any server has been asked, and their instructions belong into it. What was
kept is used only while the registry files and the rules are as they were. Imported before the
first answer: nothing heavy.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from toolyard.files.stamp import stamp
from toolyard.files.whole import write_whole
from toolyard.settings import Settings

_FILE = os.path.join(".registry", "instructions.json")


def recall(paths: Sequence[str], settings: Settings) -> str | None:
    """None where nothing was kept, or not for this."""
    if not paths:
        return None
    try:
        with open(_place(paths), "rb") as file:
            memory = json.load(file)
        text = memory["instructions"] if memory["for"] == _circumstances(paths, settings) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return text if isinstance(text, str) else None


def keep(paths: Sequence[str], settings: Settings, text: str | None) -> None:
    if not paths or text == recall(paths, settings):
        return
    memory = {"for": _circumstances(paths, settings), "instructions": text}
    place = _place(paths)
    try:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        write_whole(place, json.dumps(memory).encode(), sync=False)
    except OSError:
        return  # the next start does without


def _place(paths: Sequence[str]) -> str:
    return os.path.join(os.path.dirname(os.path.abspath(paths[0])), _FILE)


def _circumstances(paths: Sequence[str], settings: Settings) -> list[str]:
    return [*(f"{path} {stamp(path)}" for path in paths), repr(settings.rules)]
