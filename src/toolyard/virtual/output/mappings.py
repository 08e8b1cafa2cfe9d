"""`outputTransform.mappings`: values made of paths, literals and templates. Knows no results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.codec import dumps
from toolyard.virtual.query.paths import MISSING, BadPath, Budget, Path, compile_path

Problem: TypeAlias = Callable[[str, str], None]
Apply: TypeAlias = Callable[[Json], Json]
# A value made from the document; inside `a[*]`, for the element of that number.
Make: TypeAlias = Callable[[Json, int | None], Json]

_LITERALS = ("stringValue", "numberValue", "boolValue", "nullValue")
_KEY = re.compile(r"[^.\[\]]+(\[\*\])?(\.[^.\[\]]+(\[\*\])?)*")
_PLACEHOLDER = re.compile(r"\$?\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
_NEVER: Make = lambda _document, _index: MISSING  # noqa: E731


def compile_mappings(
    mappings: JsonObject, pointer: str, problem: Problem, elements: str | None = None
) -> Apply:
    """Reports every wrong mapping; the function leaves those out.

    `elements`: where the mapped elements are; a path may begin with it.
    """
    parser = _MappingParser(problem, elements)
    made_of_elements = _made_of_elements(mappings)
    inner = {key for keys in made_of_elements.values() for key in keys}
    makes = [
        (key.split("."), *parser.member(mappings, key, made_of_elements.get(key), pointer))
        for key in mappings
        if key not in inner and parser.key_is_good(key, f"{pointer}/{key}")
    ]

    def apply(value: Json) -> Json:
        built: JsonObject = {}
        for tokens, make, sources in makes:
            _place(built, tokens, make, (value, sources, None))
        return built

    return apply


def _made_of_elements(mappings: JsonObject) -> dict[str, list[str]]:
    """For each key that says where elements are, the keys `a[*].b` that say what each becomes."""
    inner_keys = {
        key: [inner_key for inner_key in mappings if inner_key.startswith(f"{key}[*].")]
        for key in mappings
        if "[*]" not in key
    }
    return {key: keys for key, keys in inner_keys.items() if keys}


_At: TypeAlias = tuple[Json, list["_Source"], int | None]


def _place(into: JsonObject, tokens: list[str], make: Make, at: _At) -> None:
    document, _, index = at
    token, *tail = tokens
    if token.endswith("[*]"):
        _place_each(into, token[:-3], tail, make, at)
    elif tail:
        below = into.setdefault(token, {})
        if isinstance(below, dict):
            _place(below, tail, make, at)
    else:
        value = make(document, index)
        if value is not MISSING:
            into[token] = value


def _place_each(into: JsonObject, name: str, tail: list[str], make: Make, at: _At) -> None:
    document, sources, _ = at
    elements = into.setdefault(name, [])
    count = max((source.count(document) for source in sources), default=0)
    elements.extend({} if tail else None for _ in range(count - len(elements)))
    for index in range(count):
        if tail:
            _place(elements[index], tail, make, (document, sources, index))
        else:
            value = make(document, index)
            elements[index] = None if value is MISSING else value


class _Source:
    """A path; where it has `[*]`, also the path to the elements and the one inside each."""

    def __init__(self, text: str) -> None:
        self._whole: Path = compile_path(text)
        before, star, after = text.partition("[*]")
        self._elements = compile_path(before) if star else None
        self._inside = compile_path(f"${after}") if star else None

    def count(self, document: Json) -> int:
        elements = self._elements_in(document)
        return len(elements) if elements is not None else 0

    def value(self, document: Json, index: int | None) -> Json:
        elements = self._elements_in(document) if index is not None else None
        if elements is None or index is None or self._inside is None:
            return _evaluated(self._whole, document)
        return _evaluated(self._inside, elements[index]) if index < len(elements) else MISSING

    def _elements_in(self, document: Json) -> list[Json] | None:
        if self._elements is None:
            return None
        match = _evaluated(self._elements, document)
        return match if isinstance(match, list) else []


def _evaluated(path: Path, document: Json) -> Json:
    return path.find(document, Budget()) if path.get is None else path.get(document)


class _MappingParser:
    """Turns each mapping into a function that makes its value, and reports the wrong ones."""

    def __init__(self, problem: Problem, elements: str | None = None) -> None:
        self._problem = problem
        self._elements = elements

    def key_is_good(self, key: str, pointer: str) -> bool:
        if _KEY.fullmatch(key) and key.count("[*]") <= 1:
            return True
        self._problem(pointer, "a key has the form a, a.b or a[*].b")
        return False

    def mapping(self, mapping: Json, pointer: str) -> tuple[Make, list[_Source]]:
        if isinstance(mapping, str):
            return self._path(mapping, pointer)
        kinds = [kind for kind in _KINDS if isinstance(mapping, dict) and kind in mapping]
        if len(kinds) != 1:
            self._problem(pointer, f"must have one of {', '.join(_KINDS)}")
            return _NEVER, []
        kind = kinds[0]
        return _KINDS[kind](self, mapping[kind], f"{pointer}/{kind}")

    def member(
        self, mappings: JsonObject, key: str, inner: list[str] | None, pointer: str
    ) -> tuple[Make, list[_Source]]:
        """A value; with `inner`, a list of elements, each made by those mappings alone."""
        select, sources = self.mapping(mappings[key], f"{pointer}/{key}")
        if inner is None:
            return select, sources
        begin = f"{key}[*]."
        good = [name for name in inner if self.key_is_good(name, f"{pointer}/{name}")]
        parts = {name.removeprefix(begin): mappings[name] for name in good}

        def report(at: str, message: str) -> None:
            self._problem(at.replace(f"{pointer}/", f"{pointer}/{begin}", 1), message)

        element = compile_mappings(parts, pointer, report, _elements_path(mappings[key]))

        def make(document: Json, index: int | None) -> Json:
            match = select(document, index)
            if match is MISSING or match is None:
                return match
            return [element(value) for value in (match if isinstance(match, list) else [match])]

        return make, sources

    def _path(self, text: Json, pointer: str) -> tuple[Make, list[_Source]]:
        sources = self._sources([text], pointer)
        if not sources:
            return _NEVER, []
        return sources[0].value, sources

    def _sources(self, texts: Json, pointer: str) -> list[_Source]:
        if not isinstance(texts, list):
            self._problem(pointer, "must be a list of paths")
            return []
        return [source for text in texts if (source := self._source(text, pointer))]

    def _source(self, text: Json, pointer: str) -> _Source | None:
        path = text.get("path") if isinstance(text, dict) else text
        if not isinstance(path, str):
            self._problem(pointer, "must be a path")
            return None
        if self._elements is not None and path.startswith(self._elements):
            path = f"${path.removeprefix(self._elements)}"
        try:
            return _Source(path)
        except BadPath as error:
            self._problem(pointer, str(error))
            return None

    def _literal(self, mapping: Json, pointer: str) -> tuple[Make, list[_Source]]:
        value = literal_value(mapping)
        if value is MISSING:
            self._problem(pointer, f"must have one of {', '.join(_LITERALS)}")
        return (lambda _document, _index: value), []

    def _coalesce(self, mapping: Json, pointer: str) -> tuple[Make, list[_Source]]:
        paths = mapping.get("paths") if isinstance(mapping, dict) else mapping
        sources = self._sources(paths, pointer)

        def make(document: Json, index: int | None) -> Json:
            return next(_present(sources, document, index), MISSING)

        return make, sources

    def _concat(self, mapping: Json, pointer: str) -> tuple[Make, list[_Source]]:
        paths = mapping.get("paths") if isinstance(mapping, dict) else mapping
        separator = mapping.get("separator", "") if isinstance(mapping, dict) else ""
        sources = self._sources(paths, pointer)

        def make(document: Json, index: int | None) -> Json:
            return str(separator).join(map(_as_text, _present(sources, document, index)))

        return make, sources

    def _template(self, mapping: Json, pointer: str) -> tuple[Make, list[_Source]]:
        mapping = {"template": mapping} if isinstance(mapping, str) else mapping
        text = mapping.get("template") if isinstance(mapping, dict) else None
        if not isinstance(text, str):
            self._problem(pointer, "needs a template")
            return _NEVER, []
        paths = mapping.get("vars") or {}
        if not isinstance(paths, dict):
            self._problem(f"{pointer}/vars", "must be an object of paths")
            return _NEVER, []
        sources = {
            name: self._source(path, f"{pointer}/vars/{name}") for name, path in paths.items()
        }
        variables = {name: source for name, source in sources.items() if source}
        return _template(text, variables), list(variables.values())

    def _nested(self, mapping: Json, pointer: str) -> tuple[Make, list[_Source]]:
        mappings = mapping.get("mappings", mapping) if isinstance(mapping, dict) else None
        if not isinstance(mappings, dict):
            self._problem(pointer, "must be an object of mappings")
            return _NEVER, []
        apply = compile_mappings(mappings, pointer, self._problem)
        return (lambda document, _index: apply(document)), []


_KINDS: Mapping[str, Callable[[_MappingParser, Json, str], tuple[Make, list[_Source]]]] = {
    "path": _MappingParser._path,
    "literal": _MappingParser._literal,
    "coalesce": _MappingParser._coalesce,
    "template": _MappingParser._template,
    "concat": _MappingParser._concat,
    "nested": _MappingParser._nested,
}


def _elements_path(mapping: Json) -> str | None:
    """The path to each element, where the mapping is a plain path."""
    path = mapping.get("path") if isinstance(mapping, dict) else mapping
    if not isinstance(path, str):
        return None
    return path if path.endswith("[*]") else f"{path}[*]"


def literal_value(literal: Json) -> Json:
    """A literal's value, MISSING where it has none; anything but an object stands for itself."""
    if not isinstance(literal, dict):
        return literal
    for key in _LITERALS:
        if key in literal:
            return None if key == "nullValue" else literal[key]
    return MISSING


def _present(sources: list[_Source], document: Json, index: int | None) -> Iterator[Json]:
    values = (source.value(document, index) for source in sources)
    return (value for value in values if value is not MISSING and value is not None)


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value)


def _template(text: str, variables: Mapping[str, _Source]) -> Make:
    def make(document: Json, index: int | None) -> Json:
        def filled(match: re.Match[str]) -> str:
            if match[1] not in variables:
                return match[0]
            return "".join(map(_as_text, _present([variables[match[1]]], document, index)))

        return _PLACEHOLDER.sub(filled, text)

    return make
