"""Answer `initialize` before the rest of the program is imported: the client need not wait.

The standard library only; anything but a plain `initialize` is left for the transport.
"""

from __future__ import annotations

import json
import os
import select
from typing import Any, NamedTuple

from toolyard.errors import ProtocolError
from toolyard.protocol.client import Client
from toolyard.protocol.handshake import greet
from toolyard.protocol.identity import Identity
from toolyard.protocol.revisions import Revision

# A client that starts a server speaks at once; one that does not gets a warm server.
PATIENCE = 0.05
_CHUNK = 1 << 16


class Early(NamedTuple):
    rest: bytes = b""
    revision: Revision | None = None
    client: Client | None = None


def take_stdout() -> int:
    """The real stdout, for us alone: whatever else prints reaches stderr."""
    private = os.dup(1)
    os.dup2(2, 1)
    return private


def greet_early(identity: Identity, stdin: int, stdout: int, *, strict: bool = False) -> Early:
    """Answer the first line if it is `initialize`; give back what else was read."""
    if not select.select([stdin], [], [], PATIENCE)[0]:
        return Early()
    read = os.read(stdin, _CHUNK)
    line, newline, rest = read.partition(b"\n")
    request = _initialize(line) if newline else None
    if request is None:
        return Early(read)
    try:
        greeting = greet(identity, request["params"], strict=strict)
    except ProtocolError:
        return Early(read)
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": greeting.result}
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    _write(stdout, text.encode("utf-8", "replace") + b"\n")
    return Early(rest, greeting.revision, greeting.client)


def _initialize(line: bytes) -> dict[str, Any] | None:
    """The request, when it is one that needs no second thought."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    known_id = isinstance(message.get("id"), str | int) and not isinstance(message["id"], bool)
    params = message.get("params")
    if message.get("method") != "initialize" or not known_id or not isinstance(params, dict):
        return None
    return message if "_meta" not in params else None


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
