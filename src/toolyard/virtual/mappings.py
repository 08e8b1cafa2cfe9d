"""`outputTransform.mappings`: values made from paths, literals and templates. Knows no results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.codec import dumps
from toolyard.virtual.paths import MISSING, BadPath, Budget, Path, compile_path

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
    """Every mapping that is wrong is reported; the function then leaves it out.

    `elements`: the path to the elements that the mappings are of, which a path may begin with.
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
    """Keys that say where elements are, beside keys `a[*].b` that say what is made of each."""
    found = {
        key: [other for other in mappings if other.startswith(f"{key}[*].")]
        for key in mappings
        if "[*]" not in key
    }
    return {key: others for key, others in found.items() if others}


_At: TypeAlias = tuple[Json, list["_Source"], int | None]


def _place(into: JsonObject, tokens: list[str], make: Make, at: _At) -> None:
    document, _, index = at
    token, *rest = tokens
    if token.endswith("[*]"):
        _place_each(into, token[:-3], rest, make, at)
    elif rest:
        below = into.setdefault(token, {})
        if isinstance(below, dict):
            _place(below, rest, make, at)
    else:
        made = make(document, index)
        if made is not MISSING:
            into[token] = made


def _place_each(into: JsonObject, name: str, rest: list[str], make: Make, at: _At) -> None:
    document, sources, _ = at
    elements = into.setdefault(name, [])
    count = max((source.count(document) for source in sources), default=0)
    elements.extend({} if rest else None for _ in range(count - len(elements)))
    for index in range(count):
        if rest:
            _place(elements[index], rest, make, (document, sources, index))
        else:
            made = make(document, index)
            elements[index] = None if made is MISSING else made


class _Source:
    """A path; with `[*]` in it, also the path to the elements and the one inside each."""

    def __init__(self, text: str) -> None:
        self._whole: Path = compile_path(text)
        before, star, after = text.partition("[*]")
        self._elements = compile_path(before) if star else None
        self._inside = compile_path(f"${after}") if star else None

    def count(self, document: Json) -> int:
        elements = self._found_elements(document)
        return len(elements) if elements is not None else 0

    def value(self, document: Json, index: int | None) -> Json:
        elements = self._found_elements(document) if index is not None else None
        if elements is None or index is None or self._inside is None:
            return _evaluated(self._whole, document)
        return _evaluated(self._inside, elements[index]) if index < len(elements) else MISSING

    def _found_elements(self, document: Json) -> list[Json] | None:
        if self._elements is None:
            return None
        found = _evaluated(self._elements, document)
        return found if isinstance(found, list) else []


def _evaluated(path: Path, document: Json) -> Json:
    return path.find(document, Budget()) if path.get is None else path.get(document)


class _MappingParser:
    def __init__(self, problem: Problem, elements: str | None = None) -> None:
        self._problem = problem
        self._elements = elements

    def key_is_good(self, key: str, pointer: str) -> bool:
        if _KEY.fullmatch(key) and key.count("[*]") <= 1:
            return True
        self._problem(pointer, "a key is a, a.b or a[*].b")
        return False

    def mapping(self, mapping: Json, pointer: str) -> tuple[Make, list[_Source]]:
        if isinstance(mapping, str):
            return self._path(mapping, pointer)
        known = [kind for kind in _KINDS if isinstance(mapping, dict) and kind in mapping]
        if len(known) != 1:
            self._problem(pointer, f"must have one of {', '.join(_KINDS)}")
            return _NEVER, []
        kind = known[0]
        return _KINDS[kind](self, mapping[kind], f"{pointer}/{kind}")

    def member(
        self, mappings: JsonObject, key: str, inner: list[str] | None, pointer: str
    ) -> tuple[Make, list[_Source]]:
        """A value; with `inner`, elements, each made of those mappings and of nothing else."""
        select, sources = self.mapping(mappings[key], f"{pointer}/{key}")
        if inner is None:
            return select, sources
        begin = f"{key}[*]."
        good = [one for one in inner if self.key_is_good(one, f"{pointer}/{one}")]
        parts = {one.removeprefix(begin): mappings[one] for one in good}

        def placed(at: str, message: str) -> None:
            self._problem(at.replace(f"{pointer}/", f"{pointer}/{begin}", 1), message)

        element = compile_mappings(parts, pointer, placed, _elements_path(mappings[key]))

        def make(document: Json, index: int | None) -> Json:
            found = select(document, index)
            if found is MISSING or found is None:
                return found
            return [element(one) for one in (found if isinstance(found, list) else [found])]

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

    def _literal(self, stated: Json, pointer: str) -> tuple[Make, list[_Source]]:
        value = literal_value(stated)
        if value is MISSING:
            self._problem(pointer, f"must have one of {', '.join(_LITERALS)}")
        return (lambda _document, _index: value), []

    def _coalesce(self, stated: Json, pointer: str) -> tuple[Make, list[_Source]]:
        paths = stated.get("paths") if isinstance(stated, dict) else stated
        sources = self._sources(paths, pointer)

        def make(document: Json, index: int | None) -> Json:
            return next(_present(sources, document, index), MISSING)

        return make, sources

    def _concat(self, stated: Json, pointer: str) -> tuple[Make, list[_Source]]:
        paths = stated.get("paths") if isinstance(stated, dict) else stated
        separator = stated.get("separator", "") if isinstance(stated, dict) else ""
        sources = self._sources(paths, pointer)

        def make(document: Json, index: int | None) -> Json:
            return str(separator).join(map(_as_text, _present(sources, document, index)))

        return make, sources

    def _template(self, stated: Json, pointer: str) -> tuple[Make, list[_Source]]:
        stated = {"template": stated} if isinstance(stated, str) else stated
        text = stated.get("template") if isinstance(stated, dict) else None
        if not isinstance(text, str):
            self._problem(pointer, "needs a template")
            return _NEVER, []
        stated_vars = stated.get("vars") or {}
        if not isinstance(stated_vars, dict):
            self._problem(f"{pointer}/vars", "must be an object of paths")
            return _NEVER, []
        found = {
            name: self._source(path, f"{pointer}/vars/{name}") for name, path in stated_vars.items()
        }
        variables = {name: source for name, source in found.items() if source}
        return _template(text, variables), list(variables.values())

    def _nested(self, stated: Json, pointer: str) -> tuple[Make, list[_Source]]:
        mappings = stated.get("mappings", stated) if isinstance(stated, dict) else None
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


def literal_value(stated: Json) -> Json:
    """A literal's value, MISSING where none is stated; anything but an object is itself."""
    if not isinstance(stated, dict):
        return stated
    for key in _LITERALS:
        if key in stated:
            return None if key == "nullValue" else stated[key]
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
