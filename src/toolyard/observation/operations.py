"""Counts the requests of clients and those to upstreams: how long, how often, how much to read.

Both are counted where they begin and end as requests (see `transports/answer.py` and
`upstreams/conversation/session.py`), so that a call that fans out is one of the first kind and
several of the second. What a result has lost on its way through virtual tools is the difference
between what came from their sources and what went to the client.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from time import perf_counter
from typing import NamedTuple

from toolyard.context.sizes import CHARACTERS_PER_TOKEN
from toolyard.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    NOT_INITIALIZED,
    PARSE_ERROR,
    RATE_LIMITED,
    RESOURCE_NOT_FOUND,
    URL_REQUIRED,
)
from toolyard.observation.outcomes import (
    argument_characters,
    failure_in,
    failure_of,
    result_characters,
)
from toolyard.observation.series import (
    OTHER,
    Histogram,
    Key,
    Metric,
    Point,
    Series,
    labelled,
)
from toolyard.protocol.call import Call, Channel, Json, JsonObject, Result, Session, Target
from toolyard.protocol.revisions import ALL
from toolyard.upstreams.conversation.observing import Addressee
from toolyard.upstreams.link.link import Outgoing

SERVER_DURATION = "mcp_server_operation_duration_seconds"
CLIENT_DURATION = "mcp_client_operation_duration_seconds"
_COMMON = (
    *("mcp_method_name", "gen_ai_tool_name", "error_type"),
    *("network_transport", "mcp_protocol_version"),
)
_USAGE_LABELS = ("mcp_method_name", "gen_ai_tool_name", "caller")
_METHODS = frozenset[str]().union(*(revision.methods for revision in ALL.values()))
_CALL = "tools/call"
# The characters that the sources of the call at hand have answered with.
_source_characters: ContextVar[list[int] | None] = ContextVar("_source_characters", default=None)


class Usage:
    """What one caller has made of one tool."""

    __slots__ = ("calls", "characters_in", "characters_out", "characters_saved", "errors")

    def __init__(self) -> None:
        self.calls = self.errors = 0
        self.characters_in = self.characters_out = self.characters_saved = 0


class Tally(NamedTuple):
    """What one more request that worked is added to."""

    durations: Histogram
    usage: Usage


class ServerOperations:
    """Observes the requests of clients. `knows` a tool: a name that nobody serves is no label.

    Nearly all requests work and are like one before: for these, both series are found at once.
    """

    def __init__(self, transport: str, most: int) -> None:
        self._transport = transport
        self.durations = Series(Histogram, _folded_operation, most)
        self._usages = Series(Usage, _folded_usage, most)
        # By method, tool, revision and caller; what is folded is not here, so that it is counted.
        self._tallies: dict[Key, Tally] = {}
        self.knows: Callable[[str], bool] = lambda _name: False

    async def observe(
        self, call: Call, session: Session | None, work: Callable[[], Awaitable[Result]]
    ) -> Result:
        is_tool = call.method == _CALL
        sources = [0]
        if is_tool:
            _source_characters.set(sources)
        start = perf_counter()
        try:
            result = await work()
        except BaseException as error:
            self._add_failure(call, failure_of(error), perf_counter() - start)
            raise
        seconds = perf_counter() - start
        characters = result_characters(result)
        failure = failure_in(result)
        if failure:
            self._add_failure(call, failure, seconds).characters_out += characters
            return result
        name: Json = call.params.get("name") if is_tool else ""
        if type(name) is not str:
            name = ""  # whoever resumes a call may say what it likes
        key = (call.method, name, call.revision.date, call.caller.id)
        durations, usage = self._tallies.get(key) or self._tally(key)
        durations.add(seconds)
        usage.calls += 1
        usage.characters_out += characters
        if is_tool:
            usage.characters_in += argument_characters(call.params.get("arguments"))
            if sources[0] > characters:
                usage.characters_saved += sources[0] - characters
        return result

    def _tally(self, key: Key) -> Tally:
        method, name, revision, caller = key
        method = method if method in _METHODS else OTHER
        operation, user = (method, name, "", self._transport, revision), (method, name, caller)
        tally = Tally(self.durations.at(operation), self._usages.at(user))
        if self.durations.get(operation) and self._usages.get(user):
            self._tallies[key] = tally
        return tally

    def _add_failure(self, call: Call, failure: str, seconds: float) -> Usage:
        method = call.method if call.method in _METHODS else OTHER
        arguments, name = None, ""
        if method == _CALL:
            arguments = call.params.get("arguments")
            name = self._label(call.params.get("name"), call.caller.id)
        labels = (method, name, failure, self._transport, call.revision.date)
        self.durations.at(labels).add(seconds)
        usage = self._usages.at((method, name, call.caller.id))
        usage.calls += 1
        usage.errors += 1
        usage.characters_in += argument_characters(arguments)
        return usage

    def _label(self, name: object, caller: str) -> str:
        """Whatever a client makes up as a name must not become a series.

        Names that have worked before exist: a caller may have tools of its own, which nobody else
        knows.
        """
        if not isinstance(name, str):
            return ""
        if self.knows(name) or self._usages.get((_CALL, name, caller)):
            return name
        return ""

    def metrics(self) -> Iterator[Metric]:
        meaning = "How long requests of clients took."
        yield _durations(SERVER_DURATION, meaning, _COMMON, self.durations)
        items = tuple(self._usages.items())
        for name, meaning, number_of in _USAGE_METRICS:
            points = tuple(Point(key, number_of(usage)) for key, usage in items)
            yield Metric(name, "counter", meaning, _USAGE_LABELS, points)

    @property
    def folded_counts(self) -> dict[str, float]:
        return {
            SERVER_DURATION: self.durations.folded_count,
            _USAGE_METRICS[0][0]: self._usages.folded_count,
        }


def folded_metric(counts: dict[str, float]) -> Metric:
    meaning = "Additions to series named other, because there were too many, by metric."
    return labelled("toolyard_metrics_folded_total", "counter", meaning, "metric", counts)


def _tokens(characters: int) -> float:
    return characters / CHARACTERS_PER_TOKEN


_USAGE_METRICS: tuple[tuple[str, str, Callable[[Usage], float]], ...] = (
    ("toolyard_calls_total", "Requests of each caller.", lambda usage: usage.calls),
    ("toolyard_call_errors_total", "Those that failed.", lambda usage: usage.errors),
    (
        "toolyard_tokens_in_total",
        "What models wrote as arguments, in tokens (characters / 4).",
        lambda usage: _tokens(usage.characters_in),
    ),
    (
        "toolyard_tokens_out_total",
        "What models got to read, in tokens (characters / 4).",
        lambda usage: _tokens(usage.characters_out),
    ),
    (
        "toolyard_tokens_saved_total",
        "What sources answered and models did not get to read, in tokens (characters / 4).",
        lambda usage: _tokens(usage.characters_saved),
    ),
)


class ClientOperations:
    """Observes the requests to upstreams."""

    def __init__(self, most: int) -> None:
        self.durations = Series(Histogram, _folded_operation, most)

    async def observe(
        self,
        session: Addressee,
        out: Outgoing,
        send: Callable[[Outgoing], Awaitable[JsonObject]],
    ) -> JsonObject:
        start = perf_counter()
        try:
            result = await send(out)
        except BaseException as error:
            self._add(session, out, failure_of(error), perf_counter() - start)
            raise
        self._add(session, out, failure_in(result), perf_counter() - start)
        note_source(result)
        return result

    def _add(self, session: Addressee, out: Outgoing, failure: str, seconds: float) -> None:
        name = str(out.params.get("name", "")) if out.method == _CALL else ""
        transport = network_transport(session)
        key = (out.method, name, failure, transport, out.version or "", session.server)
        self.durations.at(key).add(seconds)

    def metrics(self) -> Iterator[Metric]:
        meaning = "How long requests to other servers took."
        yield _durations(CLIENT_DURATION, meaning, (*_COMMON, "server"), self.durations)

    @property
    def folded_counts(self) -> dict[str, float]:
        return {CLIENT_DURATION: self.durations.folded_count}


def network_transport(session: Addressee) -> str:
    return "pipe" if session.link.transport == "stdio" else "tcp"


def note_source(result: Result) -> None:
    """This is what a source answered, before anything was made of it."""
    sources = _source_characters.get()
    if sources is not None:
        sources[0] += result_characters(result)


class MeasuredScript:
    """A script's target whose results are measured, before a virtual tool makes less of them."""

    __slots__ = ("_target",)

    def __init__(self, target: Target) -> None:
        self._target = target

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        result = await self._target.call(arguments, call, channel)
        note_source(result)
        return result


def _durations(
    name: str, meaning: str, label_names: tuple[str, ...], series: Series[Histogram]
) -> Metric:
    points = tuple(Point(key, histogram) for key, histogram in series.items())
    return Metric(name, "histogram", meaning, label_names, points)


def _folded_operation(key: Key) -> Key:
    """Without the parts that others choose: the tool, and codes that only they know."""
    method, _tool, failure, *other_labels = key
    is_foreign = failure.lstrip("-").isdecimal() and failure not in _OWN_CODES
    return (method, OTHER, OTHER if is_foreign else failure, *other_labels)


def _folded_usage(key: Key) -> Key:
    return (key[0], OTHER, OTHER)


_OWN_CODES = frozenset(
    str(code)
    for code in (
        *(PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR),
        *(NOT_INITIALIZED, RESOURCE_NOT_FOUND, MISSING_CAPABILITY, RATE_LIMITED, URL_REQUIRED),
    )
)
