"""Batches of the handshake revisions: one array in, one array out."""

from __future__ import annotations

import asyncio

from toolyard.errors import INVALID_REQUEST, ProtocolError
from toolyard.protocol.jsonrpc import (
    Malformed,
    Message,
    Notification,
    RpcResponse,
    encode_error,
)
from toolyard.transports.sessions import HandshakeSession


async def answer_batch(session: HandshakeSession, messages: list[Message]) -> list[bytes]:
    """The answers to a batch, in the order of its requests, whichever is ready first."""
    answers = await asyncio.gather(*(_answer_item(session, message) for message in messages))
    return [answer for answer in answers if answer is not None]


async def _answer_item(session: HandshakeSession, message: Message) -> bytes | None:
    if isinstance(message, Malformed):
        return encode_error(message.id, message.error)
    if isinstance(message, RpcResponse):
        session.settle(message)
        return None
    if isinstance(message, Notification):
        await session.hear(message)
        return None
    if message.method == "initialize":
        why = "initialize may not be part of a batch"
        return encode_error(message.id, ProtocolError(INVALID_REQUEST, "Invalid Request", why))
    return await session.answer(message)
