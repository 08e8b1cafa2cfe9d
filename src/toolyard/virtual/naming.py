"""Errors of a source whose arguments have other names here: what each is called is said beside it.

A source speaks of its arguments by its own names, in words of its own. Those are left as they are:
in a sentence, `query` may be an argument or just a word. A note says which argument is meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from toolyard.errors import ProtocolError
from toolyard.protocol.call import Encoded, JsonObject, Result
from toolyard.virtual.codec import decoded
from toolyard.virtual.output.extract import texts_of
from toolyard.virtual.renaming import Renaming

# A shorter name is a word of too many sentences: it counts only where it is quoted or in a path.
_TELLING = 4


def own_names(renamings: Sequence[Renaming]) -> dict[str, str]:
    """What callers call each argument that the source calls otherwise; the outermost first."""
    visible: set[str] = set()
    for renaming in reversed(renamings):
        names = renaming.own_names
        visible = {names.get(name, name) for name in visible} | set(renaming.arguments)
    return {
        source: name for name in sorted(visible) if (source := _at_source(name, renamings)) != name
    }


def _at_source(name: str, renamings: Sequence[Renaming]) -> str:
    for renaming in renamings:
        name = renaming.source_names.get(name, name)
    return name


def with_own_names(result: Result, renamings: Sequence[Renaming]) -> Result:
    """The result itself, unless it is an error that speaks of arguments by other names."""
    if isinstance(result, Encoded) and b'"isError"' not in result.body:
        return result
    plain = decoded(result)
    if plain.get("isError") is not True:
        return result
    note = _note("\n".join(texts_of(plain)), own_names(renamings))
    return result if not note else _with_text(plain, note)


def error_with_own_names(error: ProtocolError, renamings: Sequence[Renaming]) -> ProtocolError:
    note = _note(error.message, own_names(renamings))
    return ProtocolError(error.code, f"{error.message} ({note})", error.data) if note else error


def _with_text(result: JsonObject, text: str) -> JsonObject:
    return {**result, "content": [*result["content"], {"type": "text", "text": text}]}


def _note(text: str, names: Mapping[str, str]) -> str:
    meant = [name for name in names if _speaks_of(text, name)]
    return " ".join(f'The argument "{name}" is called "{names[name]}" here.' for name in meant)


def _speaks_of(text: str, name: str) -> bool:
    word = re.escape(name)
    marked = rf"([\"'`]){word}\1|[/.]{word}(?![\w-])"
    alone = rf"(?<![\w-]){word}(?![\w-])"
    return re.search(f"{marked}|{alone}" if len(name) >= _TELLING else marked, text) is not None
