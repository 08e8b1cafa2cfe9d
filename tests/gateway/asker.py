"""An MCP server on pipes, of any revision, that does what its tool `play` is told. No SDK.

    python asker.py REVISION LOG

`play` takes {"steps": [...]}, one after the other:
    {"ask": {"method": ..., "params": ...}}     a question; the next `answer` step waits for it
    {"answer": true}                            wait for the answer to every question so far
    {"until": FILE}                             wait for a file, and read what comes meanwhile
    {"cancel": REASON}                          take the last question back
    {"notify": {"method": ..., "params": ...}}
    {"refuse": {"error": {...}, "unless": FILE}}
    {"error": {...}} or {"result": {...}}       how the call ends
It ends with the answers as JSON in a text otherwise. In the modern era questions are asked with
`input_required`. Every message that it receives is a line of LOG.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Callable
from typing import Any

JsonObject = dict[str, Any]
REVISION, LOG = sys.argv[1:]
MODERN = REVISION >= "2026"
TOOL = {"name": "play", "inputSchema": {"type": "object"}}
INFO = {"name": "asker", "version": "1"}
ENDED = object()
LINES: list[JsonObject] = []
ANSWERS: dict[str, JsonObject] = {}


def write(message: JsonObject) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def read(timeout: float | None = None) -> JsonObject | None:
    """The next message, None after a while without one; the end of input is our end."""
    if not select.select([0], [], [], timeout)[0]:
        return None
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            sys.exit()
        line += byte
    with open(LOG, "ab") as file:
        file.write(line)
    message: JsonObject = json.loads(line)
    if "method" not in message:
        ANSWERS[message["id"]] = message
    elif "id" in message:
        LINES.append(message)
    return message


def reply(request: JsonObject, result: JsonObject) -> None:
    if MODERN:
        result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}
    write({"id": request["id"], "result": result})


class Play:
    """One call of the tool."""

    def __init__(self, request: JsonObject) -> None:
        self.request = request
        self.params = request["params"]
        self.steps = self.params["arguments"]["steps"]
        self.asked: list[str] = []

    def run(self) -> None:
        for step in self.steps:
            ((what, detail),) = step.items()
            if getattr(self, what)(detail) is ENDED:
                return
        given = {one: ANSWERS[self.id_of(one)] for one in self.asked if self.id_of(one) in ANSWERS}
        answers = self.params.get("inputResponses") or given
        reply(self.request, {"content": [{"type": "text", "text": json.dumps(answers)}]})

    def id_of(self, question: str) -> str:
        return f"{self.request['id']}-{question}"

    def ask(self, question: JsonObject) -> None:
        self.asked.append(f"q{len(self.asked)}")
        if not MODERN:
            write({"id": self.id_of(self.asked[-1]), **question})

    def answer(self, _: bool) -> object:
        if not MODERN:
            while any(self.id_of(one) not in ANSWERS for one in self.asked):
                read()
        elif "inputResponses" not in self.params:
            wanted = dict(
                zip(self.asked, (s["ask"] for s in self.steps if "ask" in s), strict=False)
            )
            reply(self.request, {"resultType": "input_required", "inputRequests": wanted})
            return ENDED
        return None

    def until(self, file: str) -> None:
        while not os.path.exists(file):
            read(0.02)

    def cancel(self, reason: str) -> None:
        taken = {"requestId": self.id_of(self.asked[-1]), "reason": reason}
        write({"method": "notifications/cancelled", "params": taken})

    def notify(self, notification: JsonObject) -> None:
        write(notification)

    def error(self, error: JsonObject) -> object:
        write({"id": self.request["id"], "error": error})
        return ENDED

    def refuse(self, refusal: JsonObject) -> object:
        """An error for as long as there is no such file."""
        return None if os.path.exists(refusal["unless"]) else self.error(refusal["error"])

    def result(self, result: JsonObject) -> object:
        reply(self.request, result)
        return ENDED


def initialize(request: JsonObject) -> None:
    hello = {"protocolVersion": REVISION, "capabilities": {"tools": {}}, "serverInfo": INFO}
    reply(request, hello)


def discover(request: JsonObject) -> None:
    reply(request, {"supportedVersions": [REVISION], "capabilities": {"tools": {}}})


METHODS: dict[str, Callable[[JsonObject], None]] = {
    "tools/list": lambda request: reply(request, {"tools": [TOOL]}),
    "tools/call": lambda request: Play(request).run(),
    **({"server/discover": discover} if MODERN else {"initialize": initialize}),
    **({} if MODERN else {"ping": lambda request: reply(request, {})}),
}


def main() -> None:
    while True:
        while LINES:
            request = LINES.pop(0)
            method = METHODS.get(request["method"])
            if method is None:
                error = {"code": -32601, "message": "Method not found"}
                write({"id": request["id"], "error": error})
            else:
                method(request)
        read()


if __name__ == "__main__":
    main()
