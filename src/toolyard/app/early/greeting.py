"""Answer `initialize` before the rest of the program is imported, so that no client waits.

Uses the standard library only; anything but a plain `initialize` is left to the transport.
"""

from __future__ import annotations

import json
import os
import select
from typing import Any

from toolyard.errors import ProtocolError
from toolyard.protocol.eras.handshake import Answered, Greeting, greet
from toolyard.protocol.eras.manner import PLAIN, Manner
from toolyard.protocol.identity import Identity

# A client that starts a server writes at once; for one that does not, we finish starting.
PATIENCE = 0.05
_CHUNK = 1 << 16
_MOST = 1 << 20


def take_stdout() -> int:
    """The real stdout, for us alone: whatever else prints reaches stderr."""
    private = os.dup(1)
    os.dup2(2, 1)
    return private


def greet_early(identity: Identity, stdin: int, stdout: int, manner: Manner = PLAIN) -> Answered:
    """Answer the first line if it is `initialize`; give back what else was read."""
    line, remainder = next_line(stdin, b"")
    answer = answer_to(identity, line, manner)
    if answer is None:
        return Answered(line + remainder)
    greeting, text = answer
    write_line(stdout, text)
    return Answered(remainder, greeting.revision, greeting.client)


def answer_to(
    identity: Identity, message: bytes, manner: Manner = PLAIN
) -> tuple[Greeting, bytes] | None:
    """The answer to a plain `initialize`, and how it is sent; None for everything else."""
    request = _initialize(message)
    if request is None:
        return None
    try:
        greeting = greet(identity, request["params"], manner)
    except ProtocolError:
        return None
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": greeting.result}
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return greeting, text.encode("utf-8", "replace")


def next_line(stdin: int, data: bytes) -> tuple[bytes, bytes]:
    """The next line with its newline, and what was read behind it.

    If no whole line comes in time: all that was read, as if it were a line, and nothing.
    """
    while b"\n" not in data and len(data) < _MOST:
        if not select.select([stdin], [], [], PATIENCE)[0]:
            return data, b""
        more = os.read(stdin, _CHUNK)
        if not more:
            return data, b""
        data += more
    line, newline, remainder = data.partition(b"\n")
    return line + newline, remainder


def _initialize(line: bytes) -> dict[str, Any] | None:
    """The request, if it is a plain one."""
    message = plain_message(line)
    if message is None or message.get("method") != "initialize" or not has_id(message):
        return None
    params = message.get("params")
    return message if isinstance(params, dict) and "_meta" not in params else None


def plain_message(line: bytes) -> dict[str, Any] | None:
    """The message in a line; None for anything that the transport must judge."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    return message


def has_id(message: dict[str, Any]) -> bool:
    return isinstance(message.get("id"), str | int) and not isinstance(message["id"], bool)


def write_line(fd: int, data: bytes) -> None:
    data += b"\n"
    while data:
        data = data[os.write(fd, data) :]
