"""Results within their limit; the rest can be read by range, with `read_result` or `result://`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.context.cutting import LIMIT, cut, kept
from toolyard.errors import INVALID_PARAMS, ProtocolError, ToolError, shown
from toolyard.methods.kept_results import KeptResult, KeptResults
from toolyard.methods.resources import not_found
from toolyard.methods.views import OURS, READ_RESULT, Saved
from toolyard.protocol.call import Call, Channel, Encoded, Handler, Json, JsonObject, Result
from toolyard.protocol.codec import dumps, exact
from toolyard.telemetry import logger
from toolyard.virtual.query.paths import BadPath, Budget, compile_path

log = logger("results")
SCHEME = "result://"
# With a catalog: may any result of its tools be too long?
HAS_LIMITS = "has limits of results"
# What JSON and a sentence add to a part.
_MARGIN = 400
# What a path may visit: in a thread, and in what was small enough to be kept.
MOST_NODES = 5_000_000
DEFINITION: JsonObject = {
    "name": READ_RESULT,
    "title": "Read the rest of a result",
    "description": "Results that are too long are cut and kept for a while; the cut answer gives "
    "an id. Read on from `offset` (in characters), or pick something out with `path`, a JSONPath.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "offset": {"type": "integer", "minimum": 0, "default": 0},
            "limit": {"type": "integer", "minimum": 1, "description": "Characters, at most."},
            "path": {"type": "string", "description": "Such as $.items[100:120].name"},
        },
        "required": ["id"],
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}


@dataclass(frozen=True, slots=True)
class Results:
    """Cuts what is too long, keeps the whole of it, and reads from that."""

    store: KeptResults
    # The limit of tools that have none of their own, in bytes; None: there is none.
    general_limit: Callable[[], int | None]
    saved: Saved | None = None

    def limit(self, tool: Tool) -> int | None:
        """Of a result of this tool, in bytes; None: it may be as long as it is."""
        limit = tool.extra.get(LIMIT) or self.general_limit()
        return limit if isinstance(limit, int) and tool.origin is not OURS else None

    async def fit(self, catalog: Catalog, tool: Tool, result: Result, call: Call) -> Result:
        if HAS_LIMITS not in catalog.derived:
            catalog.derived[HAS_LIMITS] = any(map(self.limit, catalog.tools.values()))
        limit = self.limit(tool)
        if limit is None:
            return result
        size = len(result.body) if isinstance(result, Encoded) else len(dumps(result))
        if size <= limit:
            return result
        value = exact(result.body) if isinstance(result, Encoded) else result
        if value.get("isError") or value.get("resultType", "complete") != "complete":
            return result
        part = await asyncio.to_thread(self._cut, tool, value, (size, limit), call)
        if self.saved is not None:
            self.saved(call, size - len(dumps(part)))
        return part

    def _cut(
        self, tool: Tool, result: JsonObject, sizes: tuple[int, int], call: Call
    ) -> JsonObject:
        size, limit = sizes
        whole = kept(result)
        try:
            key = self.store.keep(call.caller, KeptResult(whole.text, limit, whole.is_json))
        except OSError as error:
            log.error("a result could not be kept: %s", error.strerror)
            raise ToolError(f"The result has {size:,} bytes and could not be kept") from None
        how = (
            f"The whole of it, {len(whole.text):,} characters, is kept for a while: read on with "
            f"{READ_RESULT} (id {key}, offset{', or a JSONPath' if whole.is_json else ''}), "
            f"or as the resource {SCHEME}{key}."
        )
        if "outputSchema" in tool.definition:
            raise ToolError(
                f"The result has {size:,} bytes and may have {limit:,}. It cannot be cut, because "
                f"the tool promises a schema. {how}"
            )
        return cut(result, limit, f"This result was cut: it has {size:,} bytes. {how}")

    def reader(self) -> Tool:
        """The tool that reads the rest."""
        return Tool(READ_RESULT, DEFINITION, self, OURS)

    # -- reading the rest --------------------------------------------------------------

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        """The target of `read_result`."""
        result = await asyncio.to_thread(self.store.find, call.caller, arguments["id"])
        if result is None:
            raise ToolError("There is no result with that id: it has expired or never existed")
        if "path" in arguments:
            return await asyncio.to_thread(_picked, result, arguments["path"])
        offset = arguments.get("offset", 0)
        part = _range(result, offset, arguments.get("limit"))
        end = offset + len(part)
        rest = f"read on at offset {end}" if end < len(result.text) else "this is the end"
        about = f"Characters {offset} to {end} of {len(result.text)}; {rest}."
        return {"content": [{"type": "text", "text": part}, {"type": "text", "text": about}]}

    def reading(self, handler: Handler) -> Handler:
        """`resources/read`, which also answers for `result://`."""

        async def read(call: Call, channel: Channel) -> Result:
            uri = call.params.get("uri")
            if not isinstance(uri, str) or not uri.startswith(SCHEME):
                return await handler(call, channel)
            return await asyncio.to_thread(self._resource, uri, call)

        return read

    def _resource(self, uri: str, call: Call) -> Result:
        key, _, query = uri.removeprefix(SCHEME).partition("?")
        result = self.store.find(call.caller, key)
        if result is None:
            raise not_found({"uri": uri})
        fields = dict(parse_qsl(query))
        start, limit = _number(fields, "offset", 0), _number(fields, "limit", len(result.text))
        text = result.text[start : start + limit]
        kind = "application/json" if result.is_json and not query else "text/plain"
        return {"contents": [{"uri": uri, "mimeType": kind, "text": text}]}


def _number(fields: Mapping[str, str], name: str, default: int) -> int:
    text = fields.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit():
        raise ProtocolError(INVALID_PARAMS, f"{name} must be a number of characters")
    return int(text)


def _range(result: KeptResult, offset: int, limit: int | None) -> str:
    """What fits into an answer, from there on."""
    room = result.limit - _MARGIN
    part = result.text[offset : offset + min(limit or room, room)]
    while len(dumps(part)) > room:
        part = part[: len(part) * 9 // 10]
    return part


def _picked(result: KeptResult, text: str) -> Result:
    if not result.is_json:
        raise ToolError("This result is not JSON: read it by offset")
    try:
        value: Json = compile_path(text).find(exact(result.text.encode()), Budget(MOST_NODES))
    except (BadPath, ValueError) as error:
        raise ToolError(f"The path cannot be used: {error}") from None
    answer = dumps(value).decode()
    if len(dumps(answer)) > result.limit - _MARGIN:
        raise ToolError(
            f"{shown(text)} gives {len(answer):,} characters: pick less, such as "
            "a slice [0:20] or single members"
        )
    return {"content": [{"type": "text", "text": answer}]}
