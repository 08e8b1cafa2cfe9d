"""Is an entry in somebody's file this program? Pure."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from typing import Any

_PROGRAMS = {"toolyard", "toolyard.exe", "mcp-bash", "mcp-bash.exe"}
URLS = ("url", "serverUrl", "httpUrl", "uri")


def is_ours(entry: Any, urls: Collection[str] = ()) -> bool:
    """Its command is our program, serving; or its URL is one of ours."""
    if not isinstance(entry, dict):
        return False
    if any(entry.get(key) in urls for key in URLS):
        return True
    words = list(words_of(entry))
    programs = [os.path.basename(word.replace("\\", "/")) for word in words[:1]]
    serves = "serve" in words[1:4] or programs[:1] in (["mcp-bash"], ["mcp-bash.exe"])
    return serves and (programs[0] in _PROGRAMS or _is_module(words))


def words_of(entry: dict[str, Any]) -> Iterator[str]:
    """The command and its arguments, however the client writes them."""
    command = entry.get("command", entry.get("cmd"))
    for part in (command, entry.get("args")):
        parts: Sequence[Any] = part if isinstance(part, list) else [part]
        yield from (word for word in parts if isinstance(word, str))


def _is_module(words: list[str]) -> bool:
    return words[1:3] == ["-m", "toolyard"]
