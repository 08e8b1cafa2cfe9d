"""Completions as Targets: a script that suggests, or the values that a schema lists."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from toolyard.catalog.choices import listed_values
from toolyard.errors import INTERNAL_ERROR, INVALID_PARAMS, ProtocolError
from toolyard.protocol.call import Call, Channel, Json, JsonObject
from toolyard.protocol.codec import dumps
from toolyard.scripts.contract.environ import compact
from toolyard.scripts.cursors import CompletionCursor, decode, encode
from toolyard.scripts.limits import complaint, limit_for, run_script
from toolyard.scripts.running.run import ScriptSpec
from toolyard.scripts.running.runner import Runner
from toolyard.telemetry import logger

MOST_VALUES = 100
_MOST_ISSUED = 1000
log = logger("completions")


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What was suggested, and where more is to be had."""

    values: list[str]
    more: bool = False
    next_offset: int | None = None
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of a completer."""

    arguments: JsonObject  # query, prefix, argument, context, ref
    digest: str
    limit: int
    offset: int = 0
    cursor: str = ""


class IssuedCursors:
    """Cursors that scripts have made up themselves: only those come back to them."""

    def __init__(self) -> None:
        self._issued: OrderedDict[tuple[str, str], None] = OrderedDict()

    def add(self, name: str, cursor: str) -> None:
        self._issued[name, cursor] = None
        if len(self._issued) > _MOST_ISSUED:
            self._issued.popitem(last=False)

    def knows(self, name: str, cursor: str) -> bool:
        return (name, cursor) in self._issued


@dataclass(frozen=True, slots=True)
class CompletionScript:
    """Which script completes what, and what it is told beyond the query."""

    name: str
    path: str
    metadata: JsonObject = field(default_factory=dict)  # timeoutSecs
    told: Mapping[str, str] = field(default_factory=dict)
    payloads: Mapping[bytes, bytes] = field(default_factory=dict)


class ScriptCompletion:
    def __init__(self, script: CompletionScript, runner: Runner, issued: IssuedCursors) -> None:
        self._script = script
        self._runner = runner
        self._issued = issued

    async def call(self, params: JsonObject, call: Call, channel: Channel) -> JsonObject:
        query = query_of(params, self._script.name, self._issued)
        page = await self._ask(query, call, channel)
        if page.cursor:
            self._issued.add(self._script.name, page.cursor)
        return result_of(page, query, self._script.name)

    async def _ask(self, query: Query, call: Call, channel: Channel) -> Suggestions:
        script, runner = self._script, self._runner
        spec = ScriptSpec(
            path=script.path,
            environ=runner.environ,
            extra_env={
                **script.told,
                "MCP_COMPLETION_NAME": script.name,
                "MCP_COMPLETION_LIMIT": str(query.limit),
                "MCP_COMPLETION_OFFSET": str(query.offset),
                "MCP_COMPLETION_CURSOR": query.cursor,
                "MCP_COMPLETION_ARGS_HASH": query.digest,
            },
            payloads={**script.payloads, b"MCP_COMPLETION_ARGS": compact(query.arguments)},
            cwd=runner.paths.root,
            timeout=limit_for(script.metadata, call, runner.settings),
        )
        finished = await run_script(runner, spec, call, channel, "Completion")
        if finished.exit_code:
            raise self._failed(complaint(finished, "Completion provider failed"))
        page = page_of(finished.stdout)
        if page is None:
            raise self._failed("Completion provider emitted invalid JSON")
        return page

    def _failed(self, why: str) -> ProtocolError:
        log.warning("%s: %s", self._script.path, why)
        return ProtocolError(INTERNAL_ERROR, why, {"name": self._script.name})


class ListedValues:
    """The built-in completer: values that the argument's schema lists. It invents nothing."""

    def __init__(self, name: str, schema: JsonObject) -> None:
        self._name = name
        self._schema = schema

    async def call(self, params: JsonObject, call: Call, channel: Channel) -> JsonObject:
        query = query_of(params, self._name, IssuedCursors())
        argument = query.arguments["argument"]
        typed = query.arguments["query"].lower()
        fitting = [
            value
            for value in listed_values(self._schema, argument["name"])
            if value.lower().startswith(typed)
        ]
        end = query.offset + query.limit
        page = Suggestions(fitting[query.offset : end], more=end < len(fitting), next_offset=end)
        result = result_of(page, query, self._name)
        result["completion"]["total"] = len(fitting)
        return result


def query_of(params: JsonObject, name: str, issued: IssuedCursors) -> Query:
    argument = params["argument"]
    value = argument["value"]
    context = params.get("context")
    given = context.get("arguments") if isinstance(context, dict) else None
    arguments: JsonObject = {
        "query": value,
        "prefix": value,
        "argument": {"name": argument["name"], "value": value},
        "context": {"arguments": given if isinstance(given, dict) else {}},
        "ref": params.get("ref"),
    }
    digest = hashlib.sha256(dumps(arguments, orjson.OPT_SORT_KEYS)).hexdigest()
    query = Query(arguments, digest, limit_of(params.get("limit")))
    cursor = params.get("cursor")
    return query if cursor is None else _continued(query, cursor, name, issued)


def limit_of(asked: Json) -> int:
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
        return MOST_VALUES
    return min(asked, MOST_VALUES)


def _continued(query: Query, cursor: Json, name: str, issued: IssuedCursors) -> Query:
    if isinstance(cursor, str) and issued.knows(name, cursor):
        return Query(query.arguments, query.digest, query.limit, 0, cursor)
    place = decode(cursor)
    if place is None:
        raise ProtocolError(INVALID_PARAMS, "Invalid cursor")
    if (place.name, place.digest) != (name, query.digest):
        raise ProtocolError(INVALID_PARAMS, "Cursor no longer valid")
    return Query(query.arguments, query.digest, query.limit, place.offset)


def page_of(output: bytes) -> Suggestions | None:
    """What a script printed: texts, or an object with suggestions; None for anything else."""
    if not output.strip():
        return Suggestions([])
    try:
        value = orjson.loads(output)
    except orjson.JSONDecodeError:
        return None
    if _are_texts(value):
        return Suggestions(value)
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("completion"), dict):
        value = value["completion"]
    values = value.get("suggestions", value.get("values", []))
    if not _are_texts(values):
        return None
    cursor, following = value.get("cursor") or value.get("nextCursor"), value.get("next")
    return Suggestions(
        values,
        more=value.get("hasMore") is True,
        next_offset=following if type(following) is int and following >= 0 else None,
        cursor=cursor if isinstance(cursor, str) else None,
    )


def _are_texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def result_of(page: Suggestions, query: Query, name: str) -> JsonObject:
    values = page.values[: query.limit]
    cut = len(values) < len(page.values)
    completion: JsonObject = {"values": values, "hasMore": page.more or cut}
    if cut:
        following = encode(CompletionCursor(name, query.digest, query.offset + len(values)))
        completion["nextCursor"] = following
    elif page.more or page.cursor:
        offset = page.next_offset if page.next_offset is not None else query.offset + len(values)
        own = encode(CompletionCursor(name, query.digest, offset))
        completion["nextCursor"] = page.cursor or own
    return {"completion": completion}
