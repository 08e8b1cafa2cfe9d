"""Every message in and out, written to a file for debugging; secrets masked."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Awaitable, Iterable

from toolyard.http.request import Request
from toolyard.http.response import Responder, Response
from toolyard.telemetry import MASK, Mask, one_line

MCP_PATHS = frozenset({"/mcp", "/mcp/", "/sse", "/messages"})
# A field by its name, also in JSON that is itself a string in JSON: its quotes match.
_NAMED_SECRET = re.compile(
    r'(?P<q>\\{0,7}")(?!progressToken)(?P<name>[^"\\]{0,64}(?:token|secret|passw(?:or)?d'
    r'|authorization|api[_-]?key|credential)[^"\\]{0,64})(?P=q)(?P<is>\s*:\s*)'
    r"(?:(?P=q).*?(?<!\\)(?P=q)|-?[0-9][0-9.eE+-]*)",
    re.IGNORECASE,
)
_ID = re.compile(r'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?[0-9]+)')


class PayloadLog:
    """Lines of `time|message|id|in or out|payload`, readable by their owner only."""

    def __init__(self, path: str, secrets: Iterable[str] = ()) -> None:
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
        self._fd = os.open(path, flags, 0o600)
        self._mask = Mask(secrets)

    def heard(self, payload: bytes) -> None:
        self._write("in", payload)

    def said(self, payload: bytes) -> None:
        self._write("out", payload)

    def _write(self, way: str, payload: bytes) -> None:
        if not payload.strip():
            return
        text = one_line(self.masked(payload.decode("utf-8", "replace").strip()))
        match = _ID.search(text)
        number = match.group(1) if match else "-"
        line = f"{time.time():.3f}|{_kind(text)}|{number}|{way}|{text}\n"
        os.write(self._fd, line.encode("utf-8", "replace"))

    def masked(self, text: str) -> str:
        """Mask fields with a telling name, and values that are known to be secret.

        In the text: a payload need not be JSON, and is logged as it came.
        """
        return _NAMED_SECRET.sub(rf"\g<q>\g<name>\g<q>\g<is>\g<q>{MASK}\g<q>", self._mask(text))

    def over(self, responder: Responder) -> Responder:
        """The responder, with its MCP messages logged."""

        def logged(request: Request, response: Response) -> Awaitable[None]:
            if request.path in MCP_PATHS:
                request.watch(self.heard)
                response.watch(lambda _status, part: self.said(part))
            return responder(request, response)

        return logged


def _kind(text: str) -> str:
    if '"method"' in text:
        return "request" if '"id"' in text else "notification"
    return "response"
