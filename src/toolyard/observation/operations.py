"""Counts the requests of clients and those to upstreams: how long, how often, how much to read.

Both are counted where they begin and end as requests (see `transports/answer.py` and
`upstreams/conversation/session.py`), so that a call that fans out is one of the first kind and
several of the second. Each costs a call two looks at the clock, one at a table and a few numbers
at the end of a list: the rest is worked out for many of them at once.
"""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Callable, Iterator
from sys import exc_info
from time import perf_counter
from typing import TypeAlias

from orjson import dumps

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
    TOOL_ERROR,
    argument_characters,
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
from toolyard.protocol.call import Call, Encoded, Json, JsonObject, Result
from toolyard.protocol.revisions import ALL
from toolyard.upstreams.conversation.observing import Addressee, NoteExchange
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
_NETWORK = {"stdio": "pipe", "pipe": "pipe"}
# Kinds of requests that are noted apart: then all are added up.
MOST_NOTED = 512
# One after the other of each request: how long it took, and the characters of its arguments and of
# its result. Flat, because a tuple that is kept is one more object for the garbage collector.
Notes: TypeAlias = list[float]


class Moment:
    """Does something a moment later, once, however often it is begun meanwhile; costs no idling."""

    __slots__ = ("_is_begun", "_work")
    SECONDS = 1.0

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._is_begun = False

    def begin(self) -> None:
        if not self._is_begun:
            self._is_begun = True
            get_running_loop().call_later(self.SECONDS, self._end)

    def _end(self) -> None:
        self._is_begun = False
        self._work()


class Usage:
    """What one caller has made of one tool."""

    __slots__ = ("calls", "characters_in", "characters_out", "characters_saved", "errors")

    def __init__(self) -> None:
        self.calls = self.errors = 0
        self.characters_in = self.characters_out = self.characters_saved = 0


class ServerOperations:
    """Observes the requests of clients. `knows` a tool: a name that nobody serves is no label.

    Nearly all requests work and are like one before: these only leave a note, and notes are added
    up after a moment, or when somebody wants to know.
    """

    def __init__(self, transport: str, most: int) -> None:
        self._transport = transport
        self._durations = Series(Histogram, _folded_operation, most)
        self._usages = Series(Usage, _folded_usage, most)
        # By method, tool, revision and caller.
        self._notes: dict[Key, Notes] = {}
        # Those of tools that were called, by revision, caller and name: a key would cost more.
        self._called: dict[str, dict[str, dict[str, Notes]]] = {}
        self._moment = Moment(self._add_up)
        self.knows: Callable[[str], bool] = lambda _name: False

    def note(self, call: Call, result: Result | None, start: float) -> None:
        if call.method == _CALL:
            try:
                # The usual case, in as few steps as it takes: one text, from a tool that was just
                # called before. Whatever is not as usual raises, and is looked at with care.
                (item,) = result["content"]  # type: ignore[index]
                if "isError" not in result or not result["isError"]:  # type: ignore[operator,index]
                    params = call.params
                    notes = self._called[call.revision.date][call.caller.id][params["name"]]
                    notes += (
                        perf_counter() - start, len(dumps(params["arguments"])), len(item["text"])
                    )  # fmt: skip
                    return
            except (KeyError, TypeError, ValueError):
                pass
        self._note(call, result, perf_counter() - start)

    def _note(self, call: Call, result: Result | None, seconds: float) -> None:
        if result is None:
            self._add_failure(call, failure_of(exc_info()[1]), seconds)
            return
        characters = result_characters(result)
        if not isinstance(result, Encoded) and result.get("isError"):
            self._add_failure(call, TOOL_ERROR, seconds).characters_out += characters
            return
        arguments, name = 0, ""
        if call.method == _CALL:
            arguments = argument_characters(call.params.get("arguments"))
            given: Json = call.params.get("name")
            # Whoever resumes a call may say what it likes.
            name = given if isinstance(given, str) else ""
        key = (call.method, name, call.revision.date, call.caller.id)
        notes = self._notes.get(key)
        if notes is None:
            notes = self._new_notes(key)
        notes += (seconds, arguments, characters)

    def _new_notes(self, key: Key) -> Notes:
        if len(self._notes) >= MOST_NOTED:
            self._add_up()
        self._moment.begin()
        notes = self._notes[key] = []
        method, name, revision, caller = key
        if method == _CALL:
            self._called.setdefault(revision, {}).setdefault(caller, {})[name] = notes
        return notes

    def _add_up(self) -> None:
        for key, notes in self._notes.items():
            self._add(key, notes)
        self._notes.clear()
        self._called.clear()

    def _add(self, key: Key, notes: Notes) -> None:
        method, name, revision, caller = key
        seconds, count = notes[::3], len(notes) // 3
        method = method if method in _METHODS else OTHER
        operation = (method, name, "", self._transport, revision)
        self._durations.at(operation, count).add_all(seconds)
        usage = self._usages.at((method, name, caller), count)
        usage.calls += count
        usage.characters_in += int(sum(notes[1::3]))
        usage.characters_out += int(sum(notes[2::3]))

    @property
    def durations(self) -> Series[Histogram]:
        self._add_up()
        return self._durations

    def save(self, call: Call, characters: int) -> None:
        """So much of what was answered does not reach the model."""
        name = call.via or call.params.get("name") if call.method == _CALL else ""
        if characters > 0 and isinstance(name, str):
            usage = self._usages.at((call.method, name, call.caller.id))
            usage.characters_saved += characters

    def _add_failure(self, call: Call, failure: str, seconds: float) -> Usage:
        method = call.method if call.method in _METHODS else OTHER
        arguments, name = None, ""
        if method == _CALL:
            arguments = call.params.get("arguments")
            name = self._label(call.params.get("name"), call.caller.id)
        labels = (method, name, failure, self._transport, call.revision.date)
        self._durations.at(labels).add(seconds)
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
        if self.knows(name):
            return name
        self._add_up()
        return name if self._usages.get((_CALL, name, caller)) else ""

    def metrics(self) -> Iterator[Metric]:
        meaning = "How long requests of clients took."
        yield _histograms(SERVER_DURATION, meaning, _COMMON, self.durations)
        items = tuple(self._usages.items())
        for name, meaning, number_of in _USAGE_METRICS:
            points = tuple(Point(key, number_of(usage)) for key, usage in items)
            yield Metric(name, "counter", meaning, _USAGE_LABELS, points)

    @property
    def folded_counts(self) -> dict[str, float]:
        self._add_up()
        return {
            SERVER_DURATION: self._durations.folded_count,
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


class ClientNotes:
    """The requests to one upstream over one connection."""

    __slots__ = ("_addressee", "_durations", "_operations")

    def __init__(self, operations: ClientOperations, addressee: Addressee) -> None:
        self._operations = operations
        self._addressee = addressee
        # In seconds, by tool, until they are added up.
        self._durations: dict[Json, list[float]] = {}

    def note(self, out: Outgoing, result: JsonObject | None, start: float) -> None:
        # By number, as by name it takes twice as long.
        if out[1] == _CALL:
            try:
                # The usual case, as above.
                if "isError" not in result or not result["isError"]:  # type: ignore[operator,index]
                    self._durations[out[2]["name"]].append(perf_counter() - start)
                    return
            except (KeyError, TypeError):
                pass
        self._note(out, result, perf_counter() - start)

    def _note(self, out: Outgoing, result: JsonObject | None, seconds: float) -> None:
        failure = failure_of(exc_info()[1]) if result is None else ""
        if result is not None and result.get("isError"):
            failure = TOOL_ERROR
        name: Json = out.params.get("name") if out.method == _CALL else ""
        where, server = network_transport(self._addressee), self._addressee.server
        labels = (out.method, str(name), failure, where, out.version or "", server)
        if failure or not name:
            self._operations.add(labels, seconds)
            return
        durations = self._durations[name] = [seconds]
        self._operations.keep(labels, durations, self._durations)


class ClientOperations:
    """Counts the requests to upstreams in the same way."""

    def __init__(self, most: int) -> None:
        self._durations = Series(Histogram, _folded_operation, most)
        # Of notes: what they are about, the durations, and where these are found meanwhile.
        self._noted: list[tuple[Key, list[float], dict[Json, list[float]]]] = []
        self._moment = Moment(self._add_up)

    def notes_of(self, addressee: Addressee) -> NoteExchange:
        return ClientNotes(self, addressee).note

    def add(self, labels: Key, seconds: float) -> None:
        self._durations.at(labels).add(seconds)

    def keep(self, labels: Key, durations: list[float], place: dict[Json, list[float]]) -> None:
        """What more is noted in that place is added up in a moment."""
        self._noted.append((labels, durations, place))
        if len(self._noted) >= MOST_NOTED:
            self._add_up()
        else:
            self._moment.begin()

    def _add_up(self) -> None:
        noted, self._noted = self._noted, []
        for labels, durations, place in noted:
            place.clear()
            self._durations.at(labels, len(durations)).add_all(durations)

    @property
    def durations(self) -> Series[Histogram]:
        self._add_up()
        return self._durations

    def metrics(self) -> Iterator[Metric]:
        meaning = "How long requests to other servers took."
        yield _histograms(CLIENT_DURATION, meaning, (*_COMMON, "server"), self.durations)

    @property
    def folded_counts(self) -> dict[str, float]:
        return {CLIENT_DURATION: self.durations.folded_count}


def network_transport(addressee: Addressee) -> str:
    return network_of(addressee.link.transport)


def network_of(transport: str) -> str:
    """What OpenTelemetry calls this transport of ours."""
    return _NETWORK.get(transport, "tcp")


def _histograms(
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
