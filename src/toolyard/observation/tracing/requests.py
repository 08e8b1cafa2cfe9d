"""A SERVER span for each request of a client, and a CLIENT span for each request to an upstream.

They are apart: one call may lead to many requests. What goes out names the CLIENT span as its
parent, in `_meta` and, over HTTP, in the headers as well.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from toolyard.cluster.door import Service
from toolyard.cluster.visits import Visit
from toolyard.errors import ProtocolError
from toolyard.http.request import Request
from toolyard.http.response import Responder, Response
from toolyard.observation.operations import network_transport
from toolyard.observation.outcomes import failure_in, failure_of
from toolyard.observation.tracing import attributes as names
from toolyard.observation.tracing.context import RemoteParent, arrival
from toolyard.observation.tracing.spans import Tracer, TraceSpan, current
from toolyard.protocol.asking.rounds import STATE
from toolyard.protocol.call import Call, Json, JsonObject, Result, Session
from toolyard.upstreams.conversation.observing import Addressee
from toolyard.upstreams.link.link import Outgoing


class Whence(NamedTuple):
    """What HTTP says of the request that is being answered."""

    headers: Mapping[str, str]
    address: str = ""


# None over stdio.
_whence: ContextVar[Whence | None] = ContextVar("_whence", default=None)


def over(responder: Responder) -> Responder:
    """The responder, whose requests can be looked at while they are answered."""

    def answering(request: Request, response: Response) -> Awaitable[None]:
        _whence.set(Whence(request.head.headers, request.address or ""))
        return responder(request, response)

    return answering


def over_visits(service: Service) -> Service:
    """The same for what another process passes on: the headers are those of the client."""

    def answering(visit: Visit, request: Request, response: Response) -> Awaitable[None]:
        _whence.set(Whence(visit.headers))
        return service(visit, request, response)

    return answering


def over_copies(service: Service, tracer: Tracer) -> Service:
    """For what another process asks of a server that runs here: it says within which span."""

    def answering(visit: Visit, request: Request, response: Response) -> Awaitable[None]:
        current.set(tracer.elsewhere(visit.headers))
        return service(visit, request, response)

    return answering


class Askers:
    """The requests that were answered with a question, by the state that the client brings back."""

    MOST = 1000

    def __init__(self) -> None:
        self._spans: dict[str, RemoteParent] = {}

    def note(self, state: Json, span: TraceSpan) -> None:
        if not isinstance(state, str):
            return
        if len(self._spans) >= self.MOST:
            del self._spans[next(iter(self._spans))]  # the oldest
        self._spans[state] = RemoteParent(span.trace_id, span.span_id, span.is_sampled)

    def of(self, state: str) -> tuple[RemoteParent, ...]:
        """None where the question was asked by another process."""
        asker = self._spans.pop(state, None)
        return () if asker is None else (asker,)


class ServerSpans:
    """Observes the requests of clients."""

    def __init__(self, tracer: Tracer, transport: str, *, payloads: bool = False) -> None:
        self._tracer = tracer
        self._transport = transport
        self._payloads = payloads
        self._askers = Askers()

    async def observe(
        self,
        call: Call,
        session: Session | None,
        work: Callable[[Any, Call, Any], Awaitable[Result]],
        edge: object,
        way: object,
    ) -> Result:
        span = self._begin(call, session)
        current.set(span)
        try:
            result = await work(edge, call, way)
        except BaseException as error:
            _fail(span, error)
            raise
        else:
            failure = failure_in(result)
            if failure:
                span.fail(failure)
            if type(result) is dict and STATE in result:
                self._askers.note(result[STATE], span)
            if self._payloads and call.method == "tools/call":
                span.attributes[names.ARGUMENTS] = names.payload(call.params.get("arguments"))
                span.attributes[names.RESULT] = names.payload(result)
            return result
        finally:
            span.end()
            # The next request on this connection is not part of it.
            current.set(None)

    def _begin(self, call: Call, session: Session | None) -> TraceSpan:
        whence = _whence.get()
        headers = whence.headers if whence is not None else None
        span = self._tracer.begin("", "SERVER", arrival(call.meta, headers))
        if not span.is_sampled:
            return span  # nobody will read it
        span.name, attributes = names.described(call.method, call.params)
        attributes[names.VERSION] = call.revision.date
        attributes[names.TRANSPORT] = self._transport
        if call.id is not None:
            attributes[names.REQUEST] = str(call.id)
        if session is not None and self._transport == "tcp":
            attributes[names.SESSION] = session.key
        if whence is not None and whence.address:
            attributes[names.CLIENT_ADDRESS] = whence.address
        span.attributes = attributes
        if call.request_state is not None:
            span.links += self._askers.of(call.request_state)
        return span


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
        span = self._begin(addressee, out)
        try:
            result = await send(_with_context(out, span), running, limit)
        except BaseException as error:
            _fail(span, error)
            raise
        else:
            failure = failure_in(result)
            if failure:
                span.fail(failure)
            return result
        finally:
            span.end()

    def _begin(self, addressee: Addressee, out: Outgoing) -> TraceSpan:
        parent = current.get()
        if parent is not None:
            span = parent.child("", "CLIENT")
        else:
            span = self._tracer.begin("", "CLIENT")
        if not span.is_sampled:
            return span
        span.name, attributes = names.described(out.method, out.params)
        attributes[names.REQUEST] = str(out.id)
        attributes[names.TRANSPORT] = network_transport(addressee)
        attributes[names.UPSTREAM] = addressee.server
        attributes[names.SERVER_ADDRESS] = addressee.link.address or addressee.server
        if out.version is not None:
            attributes[names.VERSION] = out.version
        span.attributes = attributes
        return span


def _with_context(out: Outgoing, span: TraceSpan) -> Outgoing:
    fields = span.fields
    meta = out.params.get("_meta")
    params = {**out.params, "_meta": {**meta, **fields} if isinstance(meta, dict) else fields}
    headers = {**out.headers, **fields} if out.headers else fields
    return Outgoing(out.id, out.method, params, out.version, out.modern, headers)


def _fail(span: TraceSpan, error: BaseException) -> None:
    if isinstance(error, ProtocolError):
        span.attributes[names.STATUS] = str(error.code)
        span.fail(str(error.code), error.message)
    else:
        span.fail(failure_of(error), str(error))
