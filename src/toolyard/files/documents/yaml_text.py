"""One entry in a YAML text: lines put in, or taken out. Pure.

PyYAML says where everything stands and judges the result; it never writes. Every value that is
put in is JSON, which YAML contains, so no text can be taken for something else.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from toolyard.files.documents.splices import Cut, newline_of, quoted
from toolyard.files.documents.spots import Spot, check_size

_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
# Plain words that some readers take for a boolean or null.
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
_STEP = "  "


@dataclass(frozen=True, slots=True)
class YamlText:
    """YAML, a single document."""

    bom: bool = True
    seed: str = ""

    def parse(self, text: str) -> Any:
        """Raises ValueError that says what is wrong, with line and column."""
        import yaml  # noqa: PLC0415 - only three clients keep their servers in YAML

        try:
            document = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError as error:
            raise ValueError(f"is not YAML: {_where(error)}") from None
        except (RecursionError, ValueError):
            raise ValueError("is not YAML that can be read safely") from None
        check_size(document)
        return {} if document is None else document

    def added(self, text: str, spot: Spot, entry: Any) -> tuple[Cut, ...]:
        """Raises ValueError."""
        root = _root(text)
        if root is None:
            return (_at_the_end(text, spot, entry),)
        (key,) = spot.path  # no program keeps its servers deeper in YAML
        pair = _single(root, key)
        if pair is not None:
            _refuse_marks(text, pair)
            return (_into(text, pair, spot, entry),)
        if root.flow_style:
            raise ValueError(f"has no {key}, and no simple place for it")
        return (_at_the_end(text, spot, entry, " " * root.start_mark.column),)

    def removed(self, text: str, spot: Spot) -> str:
        """The lines of the entry; comments behind it stay."""
        node = _root(text)
        for key in spot.path:
            pair = _single(node, key) if node is not None else None
            if pair is None:
                return text
            node = pair[1]
        span = _span(node, spot)
        if span is None or node.flow_style:
            raise ValueError("has the entry on a line with others: take it out by hand")
        start = text.rfind("\n", 0, span[0]) + 1
        return text[:start] + text[_content_end(text, start, span[1]) :]


def _where(error: Any) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None:
        return str(error)
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}"


def _root(text: str) -> Any:
    """The top mapping as a tree of nodes with their places; None where there is nothing yet."""
    import yaml  # noqa: PLC0415 - as above

    node = yaml.compose(text, yaml.SafeLoader)
    if node is None or (isinstance(node, yaml.ScalarNode) and node.value == ""):
        return None
    if not isinstance(node, yaml.MappingNode):
        raise ValueError("must hold a YAML mapping")
    return node


def _single(node: Any, key: str) -> tuple[Any, Any] | None:
    pairs = node.value if node.id == "mapping" else []
    if any(name.tag.endswith(":merge") for name, _ in pairs):
        raise ValueError("has a merge key where servers are named")
    matches = [pair for pair in pairs if pair[0].value == key]
    if len(matches) > 1:
        raise ValueError(f"has {quoted(key)} twice in the same mapping")
    return matches[0] if matches else None


def _refuse_marks(text: str, pair: tuple[Any, Any]) -> None:
    """An anchor, alias or tag there would mean that others share what we change."""
    between = text[pair[0].end_mark.index : pair[1].start_mark.index + 1]
    is_elsewhere = pair[1].start_mark.index < pair[0].end_mark.index
    if is_elsewhere or between.lstrip(": \t\r\n")[:1] in ("&", "!", "*"):
        raise ValueError("has an anchor, alias or tag where servers are named")


def _into(text: str, pair: tuple[Any, Any], spot: Spot, entry: Any) -> Cut:
    key, node = pair
    kind = "sequence" if spot.key else "mapping"
    empty = node.id == "scalar" and node.value == "" and not node.style
    if not empty and node.id != kind:
        raise ValueError(f"has {spot.path[-1]}, which is not a {kind}")
    if not empty and not spot.key:
        _single(node, spot.name)
    if not empty and node.flow_style:
        return _into_flow(node, spot, entry)
    column = key.start_mark.column + len(_STEP) if empty else node.start_mark.column
    newline = newline_of(text)
    line_end = text.find("\n", key.end_mark.index)
    at = len(text) if line_end < 0 else line_end + 1
    lines = _item(spot, entry)
    body = newline.join(f"{' ' * column}{line}" for line in lines)
    return Cut(at, at, f"{newline}{body}" if line_end < 0 else f"{body}{newline}")


def _into_flow(node: Any, spot: Spot, entry: Any) -> Cut:
    at = node.start_mark.index + 1
    text = _json(entry) if spot.key else f"{quoted(spot.name)}: {_json(entry)}"
    return Cut(at, at, f"{text}{', ' if node.value else ''}")


def _at_the_end(text: str, spot: Spot, entry: Any, indent: str = "") -> Cut:
    newline = newline_of(text)
    lines = [f"{_key(spot.path[0])}:", *(f"{_STEP}{line}" for line in _item(spot, entry))]
    body = "".join(f"{indent}{line}{newline}" for line in lines)
    before = newline if text and not text.endswith("\n") else ""
    return Cut(len(text), len(text), before + body)


def _item(spot: Spot, entry: Any) -> list[str]:
    if not spot.key:
        return [f"{_key(spot.name)}:", *(f"{_STEP}{line}" for line in _lines(entry))]
    first, *others = _lines(entry)
    return [f"- {first}", *(f"{_STEP}{line}" for line in others)]


def _lines(entry: Any) -> list[str]:
    """A mapping in block style; what is inside of its members stays on their line."""
    lines = []
    for key, value in entry.items():
        if isinstance(value, dict) and value:
            lines += [f"{_key(key)}:", *(f"{_STEP}{line}" for line in _lines(value))]
        else:
            lines.append(f"{_key(key)}: {_json(value)}")
    return lines


def _json(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_json, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{quoted(key)}: {_json(part)}' for key, part in value.items())}}}"
    return json.dumps(value)


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _WORDS else quoted(key)


def _span(node: Any, spot: Spot) -> tuple[int, int] | None:
    """Where the entry begins and where, at the latest, it ends."""
    if not spot.key:
        pair = _single(node, spot.name)
        return None if pair is None else (pair[0].start_mark.index, pair[1].end_mark.index)
    for item in node.value:
        pair = _single(item, spot.key) if item.id == "mapping" else None
        if pair is not None and pair[1].value == spot.name:
            return item.start_mark.index, item.end_mark.index
    return None


def _content_end(text: str, start: int, end: int) -> int:
    """An end mark runs on to the next token: comments and blanks before that are not ours."""
    lines = text[start:end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    stop = start + len("".join(lines))
    line_end = text.find("\n", max(stop - 1, start))
    return len(text) if line_end < 0 else line_end + 1
