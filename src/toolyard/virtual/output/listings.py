"""`textExtraction`: the items of a Markdown list as JSON objects. Knows no results and no tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.query.paths import MISSING

PARSERS = {
    "markdown_numbered_list": r"^[ \t]*\d+[.)][ \t]+",
    "markdown_bullet_list": r"^[ \t]*[-*+•][ \t]+",
}
TRANSFORMS: dict[str, Callable[[str], str]] = {
    "remove_commas": lambda text: text.replace(",", ""),
    "lowercase": str.lower,
    "uppercase": str.upper,
    "strip": str.strip,
}
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
TYPES: dict[str, Callable[[str], Json]] = {
    "string": str,
    "integer": int,
    "number": float,
    "float": float,
    "boolean": lambda text: _WORDS[text.lower()],
}


@dataclass(frozen=True, slots=True)
class _FieldPattern:
    field: str
    search: Callable[[str], Any]
    transforms: tuple[Callable[[str], str], ...]
    convert: Callable[[str], Json]
    required: bool


@dataclass(frozen=True, slots=True)
class TextExtraction:
    """How the items of a list are found in a text, and what is read from each."""

    list_field: str
    marker: Any
    patterns: tuple[_FieldPattern, ...]

    def of(self, text: str) -> JsonObject:
        items = map(self._item, self._blocks(text))
        return {self.list_field: [item for item in items if item is not None]}

    def _blocks(self, text: str) -> Iterator[str]:
        """Each outermost item's text, without its marker, up to the next one."""
        lines = text.splitlines()
        starts = [(i, match) for i, line in enumerate(lines) if (match := self.marker.match(line))]
        outer = min((_indent(lines[i]) for i, _ in starts), default=0)
        starts = [(i, match) for i, match in starts if _indent(lines[i]) <= outer]
        ends = [*(i for i, _ in starts[1:]), len(lines)]
        for (begin, match), end in zip(starts, ends, strict=False):
            yield "\n".join([lines[begin][match.end() :], *lines[begin + 1 : end]]).strip()

    def _item(self, block: str) -> JsonObject | None:
        item: JsonObject = {}
        for pattern in self.patterns:
            value = _value(pattern, block)
            if value is not MISSING:
                item[pattern.field] = value
            elif pattern.required:
                return None
        return item


def compile_text_extraction(settings: JsonObject) -> TextExtraction:
    """Raises ValueError for a pattern that RE2 does not accept."""
    return TextExtraction(
        settings.get("list_field", "items"),
        _compiled(PARSERS[settings["parser"]], multiline=False),
        tuple(
            _pattern(field, pattern) for field, pattern in settings.get("item_patterns", {}).items()
        ),
    )


def check_pattern(regex: str, multiline: bool = False) -> str | None:
    """Why RE2 does not accept it; None where it does."""
    try:
        _compiled(regex, multiline)
    except ValueError as error:
        return str(error)
    return None


def _pattern(field: str, pattern: JsonObject | str) -> _FieldPattern:
    settings: JsonObject = {"regex": pattern} if isinstance(pattern, str) else pattern
    transforms = settings.get("transform") or []
    names = [transforms] if isinstance(transforms, str) else transforms
    return _FieldPattern(
        field,
        _compiled(settings["regex"], bool(settings.get("multiline"))).search,
        tuple(TRANSFORMS[name] for name in names),
        TYPES[settings.get("type", "string")],
        bool(settings.get("required")),
    )


def _compiled(regex: str, multiline: bool) -> Any:
    # Loaded with the first registry that has a pattern: few do.
    import re2  # noqa: PLC0415

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(f"(?ms){regex}" if multiline else regex, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else error
        message = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ValueError(message) from None


def _value(pattern: _FieldPattern, block: str) -> Json:
    try:
        match = pattern.search(block)
        if match is None:
            return MISSING
        text = match.group(1 if match.re.groups else 0)
        if text is None:
            return MISSING
        for transform in pattern.transforms:
            text = transform(text)
        return pattern.convert(text)
    except (ValueError, KeyError):  # the text is not of the declared type
        return MISSING


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
