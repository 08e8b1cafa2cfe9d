"""Finding tools of a catalog by what they do. Pure: an index is made of one catalog, and kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.context.meta_tools import is_for_models
from toolyard.context.owners import owner_of
from toolyard.context.ranking import Document, Field, Index, document
from toolyard.protocol.call import Json

NAME, TITLE, DESCRIPTION, KEYWORDS, SERVER = 3.0, 1.0, 1.0, 2.0, 1.0
ARGUMENT, ARGUMENT_DESCRIPTION = 0.6, 0.3


@dataclass(frozen=True, slots=True)
class Hit:
    tool: Tool
    server: str
    score: float


@dataclass(frozen=True, slots=True)
class Search:
    """What a query led to: the best tools, words that occur nowhere, how many tools there are."""

    hits: tuple[Hit, ...]
    unmatched: tuple[str, ...]
    total: int


class ToolIndex:
    """The tools of one catalog that a model may find. Whoever sees less has an index of less."""

    def __init__(self, catalog: Catalog, older: ToolIndex | None = None) -> None:
        """`older`: what it has of unchanged tools is used again."""
        self.tools = tuple(filter(is_for_models, catalog.tools.values()))
        self.servers = tuple(owner_of(tool, catalog.tools) for tool in self.tools)
        reused = dict(_reusable(self.tools, self.servers, older)) if older is not None else {}
        self.documents: Mapping[str, Document] = {
            tool.name: reused.get(tool.name) or document(fields(tool, server))
            for tool, server in zip(self.tools, self.servers, strict=True)
        }
        self._index = self._made_or_taken(reused, older)
        self._numbers = {tool.name.lower(): number for number, tool in enumerate(self.tools)}

    def _made_or_taken(self, reused: Mapping[str, Document], older: ToolIndex | None) -> Index:
        if older is not None and list(reused) == list(older.documents) == list(self.documents):
            return older._index
        return Index(list(self.documents.values()))

    def search(self, query: str, limit: int, server: str | None = None) -> Search:
        """A tool of that very name first, then by what they say they do."""
        among = self._of(server)
        ranked = self._index.search(query, limit, among)
        exact = self._numbers.get(query.strip().lower())
        hits = [hit for hit in ranked.hits if hit[0] != exact]
        if exact is not None and (among is None or exact in among):
            hits.insert(0, (exact, max((score for _, score in ranked.hits), default=0.0) + 1.0))
        total = len(self.tools) if among is None else len(among)
        best = tuple(self._hit(number, score) for number, score in hits[:limit])
        return Search(best, ranked.unmatched, total)

    def named(self, names: Iterable[str]) -> Search:
        """Just these, as far as they are there."""
        numbers = {tool.name: number for number, tool in enumerate(self.tools)}
        names = tuple(dict.fromkeys(names))
        hits = tuple(self._hit(numbers[name], 0.0) for name in names if name in numbers)
        missing = tuple(name for name in names if name not in numbers)
        return Search(hits, missing, len(self.tools))

    def all_of(self, server: str, limit: int) -> Search:
        """What a server has, in its own order."""
        numbers = sorted(self._of(server) or ())
        hits = tuple(self._hit(number, 0.0) for number in numbers[:limit])
        return Search(hits, (), len(numbers))

    def _of(self, server: str | None) -> frozenset[int] | None:
        if server is None:
            return None
        return frozenset(number for number, owner in enumerate(self.servers) if owner == server)

    def _hit(self, number: int, score: float) -> Hit:
        return Hit(self.tools[number], self.servers[number], score)


def fields(tool: Tool, server: str) -> Iterator[Field]:
    """The texts of a tool that say what it does, and how much each says."""
    definition = tool.definition
    yield tool.name, NAME
    yield _text(definition.get("title")), TITLE
    yield _text(definition.get("description")), DESCRIPTION
    keywords = tool.extra.get("keywords")
    yield " ".join(map(str, keywords)) if isinstance(keywords, tuple) else "", KEYWORDS
    yield server, SERVER
    schema = definition.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, part in (properties if isinstance(properties, dict) else {}).items():
        yield name, ARGUMENT
        if isinstance(part, dict):
            yield _text(part.get("description")), ARGUMENT_DESCRIPTION


def _reusable(
    tools: Iterable[Tool], servers: Iterable[str], older: ToolIndex
) -> Iterator[tuple[str, Document]]:
    known = {
        tool.name: (tool, server) for tool, server in zip(older.tools, older.servers, strict=True)
    }
    for tool, server in zip(tools, servers, strict=True):
        before = known.get(tool.name)
        if before is not None and before[1] == server and _says_the_same(tool, before[0]):
            yield tool.name, older.documents[tool.name]


def _says_the_same(tool: Tool, other: Tool) -> bool:
    same = tool.definition is other.definition or tool.definition == other.definition
    return same and tool.extra.get("keywords") == other.extra.get("keywords")


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
