"""RFC 6570 templates matched in reverse: which variables make this URI?

Pure. All operators are supported; a match takes a bounded number of steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

MOST_CHARACTERS = 8192
_MOST_STEPS = 2000
# In these, `{path}` at the end is meant for a whole path: `file:///{path}`.
_PATH_SCHEMES = ("file:", "git+")


class _Style(NamedTuple):
    """How one operator writes its variables."""

    prefix: str
    between: str
    is_named: bool
    forbidden: str


_STYLES: Mapping[str, _Style] = {
    "": _Style("", ",", False, "/?#"),
    "+": _Style("", ",", False, ""),
    "#": _Style("#", ",", False, ""),
    ".": _Style(".", ".", False, "/?#"),
    "/": _Style("/", "/", False, "?#"),
    ";": _Style(";", ";", True, "/?#"),
    "?": _Style("?", "&", True, "#"),
    "&": _Style("&", "&", True, "#"),
}


class _Expression(NamedTuple):
    style: _Style
    names: tuple[str, ...]
    explodes: bool

    def take(self, text: str) -> dict[str, str] | None:
        """The variables that expand to this text."""
        prefix, between, is_named, forbidden = self.style
        if is_named and not text:
            return {}
        if not text.startswith(prefix):
            return None
        text = text[len(prefix) :]
        if not text or any(char in text for char in forbidden):
            return None
        if is_named:
            return self._by_name(text.split(between))
        return self._by_place(text, between)

    def _by_place(self, text: str, between: str) -> dict[str, str] | None:
        most = 0 if self.explodes else len(self.names) - 1
        values = text.split(between, most) if most else [text]
        if between in "./" and not self.explodes and values[-1].find(between) >= 0:
            return None
        return {name: _decoded(value) for name, value in zip(self.names, values, strict=False)}

    def _by_name(self, pairs: list[str]) -> dict[str, str] | None:
        values: dict[str, str] = {}
        for pair in pairs:
            name, _, text = pair.partition("=")
            if name not in self.names:
                return None
            value = _decoded(text)
            values[name] = f"{values[name]},{value}" if name in values else value
        return values


def _decoded(value: str) -> str:
    if "%" not in value:
        return value
    # A project's first list waits for this module, and needs none of that one.
    from urllib.parse import unquote  # noqa: PLC0415

    return unquote(value)


_Part: TypeAlias = str | _Expression


class NotATemplate(ValueError):
    """Why this is not a URI template."""


@lru_cache(maxsize=4096)
def parse(template: str) -> tuple[_Part, ...]:
    """Literals and expressions, in order; raises NotATemplate."""
    parts: list[_Part] = []
    remainder = template
    while remainder:
        literal, brace, after = remainder.partition("{")
        if "}" in literal:
            raise NotATemplate("a } without its {")
        if literal:
            parts.append(literal)
        if not brace:
            break
        inside, closing, remainder = after.partition("}")
        if not closing or "{" in inside:
            raise NotATemplate("a { without its }")
        parts.append(_expression(inside))
    if not any(isinstance(part, _Expression) for part in parts):
        raise NotATemplate("at least one {variable} is needed")
    return tuple(_whole_paths(template, parts))


def _expression(inside: str) -> _Expression:
    operator = inside[:1] if inside[:1] in _STYLES else ""
    specs = inside.removeprefix(operator).split(",")
    names = tuple(name.strip().removesuffix("*").partition(":")[0] for name in specs)
    if not all(name and all(_is_name(char) for char in name) for name in names):
        raise NotATemplate(f"{{{inside}}} does not name a variable")
    return _Expression(_STYLES[operator], names, any(name.endswith("*") for name in specs))


def _is_name(char: str) -> bool:
    return char.isalnum() or char in "_.%-"


def _whole_paths(template: str, parts: list[_Part]) -> list[_Part]:
    end = parts[-1]
    is_path = template.startswith(_PATH_SCHEMES)
    if is_path and isinstance(end, _Expression) and end.style is _STYLES[""]:
        return [*parts[:-1], end._replace(style=_STYLES["+"])]
    return parts


def variables(template: str) -> tuple[str, ...]:
    return tuple(n for part in parse(template) if isinstance(part, _Expression) for n in part.names)


def match(template: str, uri: str) -> dict[str, str] | None:
    """The variables with which the template expands to the URI; None if it does not."""
    if len(uri) > MOST_CHARACTERS:
        return None
    try:
        return _Search(parse(template), uri).from_part(0, 0)
    except NotATemplate:
        return None


class _Search:
    """One search, left to right, the shortest value first."""

    def __init__(self, parts: tuple[_Part, ...], uri: str) -> None:
        self._parts = parts
        self._uri = uri
        self._steps = _MOST_STEPS

    def from_part(self, index: int, at: int) -> dict[str, str] | None:
        if index == len(self._parts):
            return {} if at == len(self._uri) else None
        part = self._parts[index]
        if isinstance(part, str):
            if not self._uri.startswith(part, at):
                return None
            return self.from_part(index + 1, at + len(part))
        return self._from_expression(part, index, at)

    def _from_expression(self, part: _Expression, index: int, at: int) -> dict[str, str] | None:
        for end in self._ends(index + 1, at):
            self._steps -= 1
            if self._steps < 0:
                return None
            values = part.take(self._uri[at:end])
            more = None if values is None else self.from_part(index + 1, end)
            if values is not None and more is not None and _agree(values, more):
                return {**values, **more}
        return None

    def _ends(self, index: int, at: int) -> Iterator[int]:
        """Where the value before part `index` may end."""
        if index == len(self._parts):
            yield len(self._uri)
            return
        part = self._parts[index]
        mark = part if isinstance(part, str) else part.style.prefix
        if not mark:
            yield from range(at, len(self._uri) + 1)
            return
        end = self._uri.find(mark, at)
        while end >= 0:
            yield end
            end = self._uri.find(mark, end + 1)
        if not isinstance(part, str):
            yield len(self._uri)  # an optional part that is not there


def _agree(a: dict[str, str], b: dict[str, str]) -> bool:
    return all(a[name] == b[name] for name in a.keys() & b.keys())
