"""JSONPath beyond plain paths, through python-jsonpath in strict mode. Knows nothing of schemas.

Four things are done differently from the library, each because RFC 9535 or safety asks for it:
patterns run on RE2, a slice selects nothing from a string, `true` never equals 1 (not inside
arrays either), and `$` in a nested filter is the document's root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import re2
from iregexp_check import check as is_iregexp
from jsonpath import JSONPathEnvironment, JSONPathError, JSONPathMatch, NodeList
from jsonpath.filter import UNDEFINED, RelativeFilterQuery
from jsonpath.function_extensions import ExpressionType, FilterFunction
from jsonpath.parse import Parser
from jsonpath.path import JSONPath
from jsonpath.segments import JSONPathChildSegment, JSONPathRecursiveDescentSegment
from jsonpath.selectors import FilterContext, IndexSelector, NameSelector, WildcardSelector

from toolyard.errors import ToolError
from toolyard.protocol.call import Json
from toolyard.virtual.query import paths

# Visits may repeat: `$..a..b` walks a node once for every match above it.
MAX_VISITS = 4 * paths.MAX_NODES


def compile_query(text: str) -> paths.Path:
    try:
        query = _ENVIRONMENT.compile(text)
    except JSONPathError as error:
        raise paths.BadPath(_complaint(text, error)) from error
    if not isinstance(query, JSONPath):
        raise paths.BadPath(f"{text!r} is not a JSONPath: RFC 9535 has no `|` and no `&`")
    paths.check_length(text, len(query.segments))
    steps = _plain_steps(query)
    if steps is not None:
        return paths.path_of_steps(text, steps)
    return paths.Path(text, _finder(query), None, stars=_has_star(query))


def _complaint(text: str, error: JSONPathError) -> str:
    quote = repr(text if len(text) <= 80 else f"{text[:80]}...")
    if not text.startswith("$"):
        return f"{quote} is not a JSONPath: a path starts with $"
    place = error.token.index if error.token and error.token.index >= 0 else len(text)
    return f"{quote} is not a JSONPath: {error.message} (at character {place})"


def _plain_steps(query: JSONPath) -> list[paths.Step] | None:
    steps = [_plain_step(segment) for segment in query.segments]
    return None if any(step is None for step in steps) else [s for s in steps if s is not None]


def _plain_step(segment: Any) -> paths.Step | None:
    if isinstance(segment, JSONPathRecursiveDescentSegment) or len(segment.selectors) != 1:
        return None
    selector = segment.selectors[0]
    if isinstance(selector, NameSelector):
        return str(selector.name)
    if isinstance(selector, IndexSelector):
        return int(selector.index)
    return paths.STAR if isinstance(selector, WildcardSelector) else None


def _has_star(query: JSONPath) -> bool:
    return any(
        isinstance(selector, WildcardSelector)
        for segment in query.segments
        for selector in segment.selectors
    )


def _finder(query: JSONPath) -> paths.Find:
    def find(value: Json, _: paths.Budget) -> list[Json]:
        if not isinstance(value, (dict, list)):
            return []
        paths.measure(value)
        _ENVIRONMENT.visits = MAX_VISITS
        return [match.obj for match in _matches(query, value, value)]

    return find


def _matches(query: JSONPath, value: Json, root: Json) -> Iterable[JSONPathMatch]:
    start = JSONPathMatch(filter_context={}, obj=value, parent=None, path="$", parts=(), root=root)
    matches: Iterable[JSONPathMatch] = [start]
    for segment in query.segments:
        matches = segment.resolve(matches)
    return matches


class _Child(JSONPathChildSegment):
    def resolve(self, nodes: Iterable[JSONPathMatch]) -> Iterator[JSONPathMatch]:
        return _counted(super().resolve(nodes))


class _Descent(JSONPathRecursiveDescentSegment):
    def resolve(self, nodes: Iterable[JSONPathMatch]) -> Iterator[JSONPathMatch]:
        return _counted(super().resolve(nodes))

    def _visit(self, node: JSONPathMatch, depth: int = 1) -> Iterator[JSONPathMatch]:
        # The library's walk passes every node through one generator a level.
        stack = [node]
        while stack:
            match = stack.pop()
            _ENVIRONMENT.visit()
            yield match
            stack.extend(reversed(_containers(match)))


def _counted(matches: Iterable[JSONPathMatch]) -> Iterator[JSONPathMatch]:
    for match in matches:
        _ENVIRONMENT.visit()
        yield match


def _containers(node: JSONPathMatch) -> list[JSONPathMatch]:
    if isinstance(node.obj, dict):
        pairs: Iterable[tuple[Any, Any]] = node.obj.items()
    elif isinstance(node.obj, list):
        pairs = enumerate(node.obj)
    else:
        return []
    return [node.new_child(child, key) for key, child in pairs if isinstance(child, (dict, list))]


class _RelativeQuery(RelativeFilterQuery):
    def evaluate(self, context: FilterContext) -> object:
        if not isinstance(context.current, (dict, list)):
            return context.current if self.path.empty() else NodeList()
        return NodeList(_matches(self.path, context.current, context.root))


class _QueryParser(Parser):
    def parse_query(self, stream: Any) -> Iterator[Any]:
        for segment in super().parse_query(stream):
            descends = isinstance(segment, JSONPathRecursiveDescentSegment)
            segment_class = _Descent if descends else _Child
            yield segment_class(env=self.env, token=segment.token, selectors=segment.selectors)

    def parse_relative_query(self, stream: Any) -> Any:
        query: Any = super().parse_relative_query(stream)
        return _RelativeQuery(query.path)


class _RegexFunction(FilterFunction):
    """`match` and `search`, on RE2."""

    arg_types = [ExpressionType.VALUE, ExpressionType.VALUE]  # noqa: RUF012 (the library's name)
    return_type = ExpressionType.LOGICAL

    def __init__(self, whole: bool) -> None:
        self.whole = whole

    def __call__(self, value: object, pattern: object) -> bool:
        if not isinstance(value, str) or not isinstance(pattern, str):
            return False
        regex = _compile_pattern(pattern)
        if regex is None:
            return False
        try:
            return bool((regex.fullmatch if self.whole else regex.search)(value))
        except UnicodeEncodeError:  # a lone surrogate matches no pattern
            return False


@lru_cache(maxsize=256)
def _compile_pattern(pattern: str) -> Any:
    if not is_iregexp(pattern):
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(_dots_replaced(pattern), options)
    except (re2.error, UnicodeEncodeError):
        return None


def _dots_replaced(pattern: str) -> str:
    """I-Regexp's dot is any character but line feed and carriage return."""
    parts: list[str] = []
    inside, after_backslash = False, False
    for char in pattern:
        dot = char == "." and not inside and not after_backslash
        parts.append(r"[^\n\r]" if dot else char)
        if not after_backslash and char in "[]":
            inside = char == "["
        after_backslash = char == "\\" and not after_backslash
    return "".join(parts)


class _Environment(JSONPathEnvironment):
    """The library in strict mode, with our corrections and a limit on the work."""

    parser_class = _QueryParser

    def __init__(self) -> None:
        super().__init__(strict=True)
        # Evaluation never awaits, so one counter serves all paths.
        self.visits = MAX_VISITS

    def visit(self) -> None:
        self.visits -= 1
        if self.visits < 0:
            raise ToolError(f"the path visits too much of the result: over {MAX_VISITS} steps")

    def setup_function_extensions(self) -> None:
        super().setup_function_extensions()
        self.function_extensions["match"] = _RegexFunction(whole=True)
        self.function_extensions["search"] = _RegexFunction(whole=False)

    def getitem(self, obj: Any, key: Any) -> Any:
        if isinstance(obj, str):
            return ""
        return obj[key]

    def _eq(self, left: object, right: object) -> bool:
        return _same(_single(left), _single(right))


def _single(value: object) -> object:
    """The value of a singular query's node list; nothing, where it found nothing."""
    if not isinstance(value, NodeList):
        return value
    return value[0].obj if value else UNDEFINED


def _same(left: Json, right: Json) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[k], right[k]) for k in left)
    return bool(left == right)


_ENVIRONMENT = _Environment()
