"""The little of ASGI that we use, in our words: a request's parts, and whole responses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
Header: TypeAlias = tuple[bytes, bytes]

# Beside ASGI's own keys, a function: from then on the request is cancelled, quietly, when its
# client leaves before the answer. Cheaper than a task that waits for the disconnect.
CANCEL_WHEN_LEFT = "toolyard.cancel_when_left"
JSON_TYPE: Header = (b"content-type", b"application/json")
TEXT_TYPE: Header = (b"content-type", b"text/plain; charset=utf-8")
EVENT_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
)
KEEP_ALIVE = b": keep-alive\n\n"


def event(message: bytes, event_id: str | None = None, name: str = "message") -> bytes:
    """One server-sent event; the message has no line breaks."""
    head = f"id: {event_id}\n" if event_id is not None else ""
    return f"{head}event: {name}\ndata: ".encode() + message + b"\n\n"


class BodyTooLarge(Exception):
    """The request has more bytes than allowed."""


class Disconnected(Exception):
    """The client left before its request was whole."""


def body_at_hand(receive: Receive) -> bytes | None:
    """The body, if nothing has to be waited for."""
    # What our own server offers beside ASGI.
    take = getattr(receive, "at_hand", None)
    return take() if take is not None else None


async def read_body(receive: Receive, most: int) -> bytes:
    message = await receive()
    body: bytes = message.get("body", b"")
    if message["type"] == "http.request" and not message.get("more_body"):
        if len(body) > most:
            raise BodyTooLarge
        return body
    parts, size = [body], len(body)
    while message.get("more_body"):
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise BodyTooLarge
        parts.append(part)
    if message["type"] == "http.disconnect":
        raise Disconnected
    return b"".join(parts)


async def respond(
    send: Send, status: int, body: bytes = b"", headers: Iterable[Header] = ()
) -> None:
    written = begin_response(send, status, body, tuple(headers))
    if written is not None:
        await written


def begin_response(
    send: Send, status: int, body: bytes, headers: tuple[Header, ...]
) -> Awaitable[None] | None:
    """A whole response; what there is to be awaited, if anything."""
    # What our own server offers beside ASGI: one step instead of two.
    at_once: Callable[..., Awaitable[None] | None] | None = getattr(send, "at_once", None)
    if at_once is not None:
        return at_once(status, headers, body)
    return _respond_in_steps(send, status, body, headers)


async def _respond_in_steps(
    send: Send, status: int, body: bytes, headers: tuple[Header, ...]
) -> None:
    whole = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": whole})
    await send({"type": "http.response.body", "body": body})
