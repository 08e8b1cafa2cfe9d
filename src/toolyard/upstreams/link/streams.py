"""The messages on an event stream, and in a body."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from toolyard.errors import ProtocolError
from toolyard.files.lines import TooLong
from toolyard.http.events import EventParser, ServerSentEvent
from toolyard.http.fetching.client import ClientResponse
from toolyard.http.fetching.connection import Broken
from toolyard.protocol.call import JsonObject
from toolyard.protocol.codec import loads
from toolyard.protocol.verbatim import answer_in
from toolyard.upstreams.link.link import Lost, messages_in

ACCEPT_EVENTS = "text/event-stream"


async def events_of(response: ClientResponse, most: int) -> AsyncGenerator[ServerSentEvent, None]:
    """Until the stream ends or is cut off; an event may have as many bytes as a message."""
    parser = EventParser(most)
    try:
        while chunk := await response.chunk():
            for event in parser.feed(chunk):
                yield event
    except Broken:
        return
    except TooLong:
        raise Lost("sent an event that is too long") from None


def messages_of(event: ServerSentEvent) -> list[JsonObject]:
    if event.kind != "message" or not event.data:
        return []
    return messages_from(event.data)


def messages_from(data: bytes | bytearray) -> list[JsonObject]:
    try:
        # A bytearray is as good here, and a copy of a long message is not.
        answer = answer_in(data)
        return [answer] if answer is not None else messages_in(loads(data))  # type: ignore[arg-type]
    except ProtocolError as error:
        raise Lost(f"sent something that is not JSON ({error.data or error.message})") from None
