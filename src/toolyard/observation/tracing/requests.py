"""A SERVER span for each request of a client, and a CLIENT span for each request to an upstream.

They are apart: one call may lead to many requests. What goes out names the CLIENT span as its
parent, in `_meta` and, over HTTP, in the headers as well. Both run with every call, and are
written for few steps of the interpreter rather than few lines; `spans.py` says why.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from functools import partial
from time import time_ns
from typing import Any

from toolyard.cluster.door import Service
from toolyard.cluster.visits import Visit
from toolyard.errors import ProtocolError
from toolyard.http.request import Request
from toolyard.http.response import Responder, Response
from toolyard.observation.outcomes import failure_in, failure_of
from toolyard.observation.tracing.context import (
    BAGGAGE,
    TRACEPARENT,
    TRACESTATE,
    arrival,
    remote_parent,
)
from toolyard.observation.tracing.records import (
    ARGUMENTS,
    CALL,
    LONGEST_TEXT,
    RESULT,
    STATUS,
    TOOL_FAILED,
    Outcome,
    payload,
    subject_in,
)
from toolyard.observation.tracing.spans import Place, Tracer, current, more_of, span_ids
from toolyard.protocol.call import Call, Encoded, JsonObject, Result, Session
from toolyard.upstreams.conversation.observing import Addressee
from toolyard.upstreams.link.link import NO_HEADERS, Outgoing

# What HTTP says of the request that is being answered: its headers, and the client's address.
_whence: ContextVar[tuple[Mapping[str, str], str | None]]
_whence = ContextVar("_whence", default=(NO_HEADERS, None))
# Results that have these may have failed.
_NOTEWORTHY = frozenset({"isError"})
_outgoing: Callable[[tuple[object, ...]], Outgoing]
_outgoing = partial(tuple.__new__, Outgoing)


def over(responder: Responder) -> Responder:
    """The responder, whose requests can be looked at while they are answered."""

    def answering(request: Request, response: Response) -> Awaitable[None]:
        _whence.set((request.headers, request.address or None))
        return responder(request, response)

    return answering


def over_visits(service: Service) -> Service:
    """The same for what another process passes on: the headers are those of the client."""

    def answering(visit: Visit, request: Request, response: Response) -> Awaitable[None]:
        _whence.set((visit.headers, None))
        return service(visit, request, response)

    return answering


def over_copies(service: Service, tracer: Tracer) -> Service:
    """For what another process asks of a server that runs here: it says within which span."""

    def answering(visit: Visit, request: Request, response: Response) -> Awaitable[None]:
        current.set(tracer.elsewhere(visit.headers))
        return service(visit, request, response)

    return answering


class ServerSpans:
    """Observes the requests of clients."""

    def __init__(self, tracer: Tracer, transport: str, *, payloads: bool = False) -> None:
        self._tracer = tracer
        self._root = tracer.root
        self._transport = transport
        self._payloads = payloads
        # Is there nothing to say of this result?
        self._is_plain: Callable[[Result], bool] = _NOTEWORTHY.isdisjoint  # type: ignore[assignment]
        if payloads:
            self._is_plain = lambda _result: False
        # The `traceparent` of the request that asked what this call answers, if it is known.
        self.asker_of: Callable[[Call], str] = lambda _call: ""

    async def observe(
        self,
        call: Call,
        session: Session | None,
        work: Callable[[Any, Call, Any], Awaitable[Result]],
        edge: object,
        way: object,
    ) -> Result:
        start = time_ns()
        headers, address = _whence.get()
        if call.meta or call.request_state or TRACEPARENT in headers or BAGGAGE in headers:
            place, parent_id, outcome = self._origin(call, headers)
        else:
            place, parent_id, outcome = self._root(), "", None
        current.set(place)
        try:
            result = await work(edge, call, way)
            if type(result) is Encoded or not self._is_plain(result):
                outcome = self._outcome(call, result, outcome)
            return result
        except BaseException as error:
            outcome = failed(error, outcome)
            raise
        finally:
            # The next request on this connection is not part of it.
            current.set(None)
            trace_id, span_id, is_sampled, state, _, keep = place
            if is_sampled:
                request_id, subject = call.id, call.params.get("name")
                if outcome or call.method != CALL or type(request_id) is not int:
                    request_id, subject = _cut(request_id), subject_in(call.method, call.params)
                party = (self._transport, session and self._key(session), address)
                record = (
                    "SERVER", trace_id, span_id, parent_id, state, start, time_ns(), call.method,
                    subject, call.revision.date, request_id, party, outcome,
                )  # fmt: skip
                keep(record)

    def _key(self, session: Session) -> str | None:
        """Over stdio there is only one session, and it has no name."""
        return session.key if self._transport == "tcp" else None

    def _origin(self, call: Call, headers: Mapping[str, str]) -> tuple[Place, str, Outcome | None]:
        """For a request that says where it comes from, or that answers a question of ours."""
        place, parent_id, links = self._tracer.begin(arrival(call.meta, headers))
        if call.request_state is not None and place.is_sampled:
            asker = remote_parent(self.asker_of(call))
            links += () if asker is None else (asker,)
        return place, parent_id, Outcome(links=links) if links else None

    def _outcome(self, call: Call, result: Result, outcome: Outcome | None) -> Outcome | None:
        """What a span says of this result; None where there is nothing to say."""
        failure = failure_in(result)
        if failure:
            outcome = (outcome or Outcome())._replace(failure=failure)
        if self._payloads and call.method == CALL:
            arguments = payload(call.params.get("arguments"))
            attributes = ((ARGUMENTS, arguments), (RESULT, payload(result)))
            outcome = (outcome or Outcome())._replace(attributes=attributes)
        return outcome


class ClientSpans:
    """Observes the requests to upstreams, and adds our trace context to them."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    async def observe(
        self,
        addressee: Addressee,
        send: Callable[[Outgoing, Any, Any], Awaitable[JsonObject]],
        out: Outgoing,
        running: object,
        limit: object,
    ) -> JsonObject:
        parent = current.get()
        if parent is not None:
            trace_id, parent_id, is_sampled, state, baggage, keep = parent
            span_id = (span_ids or more_of(span_ids)).pop()
        else:
            trace_id, span_id, is_sampled, state, baggage, keep = self._tracer.root()
            parent_id = ""
        traceparent = f"00-{trace_id}-{span_id}-{'01' if is_sampled else '00'}"
        request_id, method, params, version, modern, headers, _ = out
        if "_meta" not in params:
            params = {**params, "_meta": {}}
        params["_meta"][TRACEPARENT] = traceparent
        lines = f"\r\ntraceparent: {traceparent}"
        if state or baggage:
            lines += _passed_on(state, baggage, params["_meta"])
        out = _outgoing((request_id, method, params, version, modern, headers, lines.encode()))
        outcome, start = None, time_ns()
        try:
            result = await send(out, running, limit)
            if result.get("isError"):
                outcome = TOOL_FAILED
            return result
        except BaseException as error:
            outcome = failed(error)
            raise
        finally:
            if is_sampled:
                subject = params["name"] if method == CALL else subject_in(method, params)
                record = (
                    "CLIENT", trace_id, span_id, parent_id, state, start, time_ns(), method,
                    subject, version, request_id, addressee.party, outcome,
                )  # fmt: skip
                keep(record)


def _passed_on(state: str, baggage: str, meta: JsonObject) -> str:
    """The rest of the context is put into `_meta`, and comes back as the lines of headers."""
    lines = ""
    for name, value in ((TRACESTATE, state), (BAGGAGE, baggage)):
        if value:
            meta[name] = value
            lines += f"\r\n{name}: {value}"
    return lines


def _cut(request_id: str | int | None) -> str | int | None:
    return request_id[:LONGEST_TEXT] if isinstance(request_id, str) else request_id


def failed(error: BaseException, outcome: Outcome | None = None) -> Outcome:
    """What a span says of this error."""
    links = outcome.links if outcome is not None else ()
    if isinstance(error, ProtocolError):
        code = str(error.code)
        return Outcome(code, error.message[:LONGEST_TEXT], links, ((STATUS, code),))
    return Outcome(failure_of(error), str(error)[:LONGEST_TEXT], links)
