"""One table in a TOML text: put in at its end, taken out with its sub-tables. Pure."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any, NamedTuple

from toolyard.files.documents.splices import Cut, newline_of, quoted
from toolyard.files.documents.spots import Spot

_BARE = re.compile(r"[A-Za-z0-9_-]+")
# Strings of all four kinds and comments are stepped over; a header is a line of its own.
_PIECE = re.compile(
    r'"""(?:\\.|[^\\])*?"""|' + r"'''.*?'''|" + r'"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'|#[^\n]*"
    r"|(?P<header>(?<=\n)[ \t]*\[(?:[^\]\"'#\n]|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')*\]\]?)"
    r"|(?P<open>[\[{])|(?P<close>[\]}])",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class TomlText:
    """TOML 1.0, as the standard library reads it."""

    bom: bool = False
    seed: str = ""

    def parse(self, text: str) -> Any:
        """Raises ValueError that says what is wrong, with line and column."""
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"is not TOML: {error}") from None
        except RecursionError:
            raise ValueError("is not TOML: it is nested too deeply") from None

    def added(self, text: str, spot: Spot, entry: Any) -> tuple[Cut, ...]:
        """Raises ValueError."""
        document = self.parse(text)
        for depth, key in enumerate(spot.path):
            document = document.get(key, {})
            kind = list if spot.key and depth == len(spot.path) - 1 else dict
            if document and not isinstance(document, kind):
                raise ValueError(f"has {key}, which is not a table of servers")
        cuts = _empty_list(text, spot) if spot.key else ()
        for cut in cuts:
            text = cut.applied(text)
        return (*cuts, Cut(len(text), len(text), _appended(text, spot, entry)))

    def removed(self, text: str, spot: Spot) -> str:
        """Its header, its lines and its sub-tables; not the comments above what follows."""
        blocks = _blocks(text)
        number = _number(self.parse(text), spot)
        for block in reversed(_ours(blocks, spot, number)):
            text = text[: block.start] + text[_content_end(text, block) :]
        return text


def _appended(text: str, spot: Spot, entry: Any) -> str:
    newline = newline_of(text)
    table = _table(spot, entry, newline)
    if not text.strip():
        return table
    return f"{'' if text.endswith(chr(10)) else newline}{newline}{table}"


def _table(spot: Spot, entry: Any, newline: str) -> str:
    path = ".".join(map(_key, spot.path))
    header = f"[[{path}]]" if spot.key else f"[{path}.{_key(spot.name)}]"
    lines = [header, *(f"{_key(key)} = {_value(value)}" for key, value in entry.items())]
    return "".join(f"{line}{newline}" for line in lines)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else quoted(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        members = ", ".join(f"{_key(key)} = {_value(part)}" for key, part in value.items())
        return f"{{ {members} }}" if members else "{}"
    return str(value)


def _string(text: str) -> str:
    """Windows paths as they are: a backslash means nothing between single quotes."""
    literal = "\\" in text and "'" not in text and text.isprintable()
    return f"'{text}'" if literal else quoted(text)


def _empty_list(text: str, spot: Spot) -> tuple[Cut, ...]:
    """`name = []` on a line of its own before the first table: tables cannot be added to it."""
    key = re.escape(spot.path[-1])
    pattern = re.compile(rf"^{key}[ \t]*=[ \t]*\[[ \t]*\][ \t]*\r?\n?", re.MULTILINE)
    match = pattern.search(text) if len(spot.path) == 1 else None
    first = next((block.start for block in _blocks(text) if block.keys), len(text))
    if match is None or match.start() > first:
        return ()
    return (Cut(match.start(), match.end()),)


class _Block(NamedTuple):
    """A table with everything up to the next header."""

    start: int
    end: int
    keys: tuple[str, ...]


def _blocks(text: str) -> list[_Block]:
    """Each table's start, end and keys; the first one is what precedes every header."""
    starts: list[tuple[int, tuple[str, ...]]] = [(0, ())]
    depth = 0
    for match in _PIECE.finditer("\n" + text):
        if match["header"] is not None and depth == 0:
            starts.append((match.start() - 1, _header_keys(match["header"])))
        elif match["open"] or match["header"] is not None:
            depth += match[0].count("[") - match[0].count("]") if match["header"] else 1
        elif match["close"]:
            depth -= 1
    ends = [*(start for start, _ in starts[1:]), len(text)]
    return [_Block(start, end, keys) for (start, keys), end in zip(starts, ends, strict=True)]


def _header_keys(header: str) -> tuple[str, ...]:
    """`[a."b.c"]` -> a, b.c; the standard library reads it."""
    document, keys = tomllib.loads(header), []
    while document:
        ((key, value),) = document.items()
        keys.append(key)
        document = value[0] if isinstance(value, list) else value
    return tuple(keys)


def _number(document: Any, spot: Spot) -> int:
    """Which item of a list of tables it is; -1 if it is not there, or not in a list."""
    for key in spot.path:
        document = document.get(key, {})
    names = [item.get(spot.key) for item in document] if spot.key else []
    return names.index(spot.name) if spot.name in names else -1


def _ours(blocks: list[_Block], spot: Spot, number: int) -> list[_Block]:
    if not spot.key:
        path = (*spot.path, spot.name)
        return [block for block in blocks if block.keys[: len(path)] == path]
    items, count = [], -1
    for block in blocks:
        count += block.keys == spot.path
        if 0 <= number == count and block.keys[: len(spot.path)] == spot.path:
            items.append(block)
    return items


def _content_end(text: str, block: _Block) -> int:
    """Past the last line with content: comments and blanks at the end belong to what follows."""
    lines = text[block.start : block.end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return block.start + len("".join(lines))
