"""Raw MCP clients of every revision: JSON in, JSON out, no SDK, nothing normalised.

    async with over_stdio(toolyard("serve", project), "2025-11-25") as client:
        result = await client.call("greet", {"name": "Ann"})

    async with over_http(server.url, "2026-07-28") as client: ...
    async with over_sse(f"{server.origin}/sse") as client: ...

Whatever the server sends is checked against the schema of the revision, and the
block fails on leaving it when something did not fit (`checked=False` turns it off).
This module knows what all of them share and the client over pipes.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from tests.peers import schemas
from tests.peers.serving import Running, spawned

JsonObject: TypeAlias = dict[str, Any]
# What the client answers to a question: a result, or a function of its params.
Answer: TypeAlias = JsonObject | Callable[[JsonObject], JsonObject]

MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
CLIENT_INFO = {"name": "raw-test-client", "version": "1.0"}
EVERYTHING: JsonObject = {"elicitation": {}, "sampling": {}, "roots": {}}
# Only a test that fails waits that long: enough for a machine that has much else to do.
WITHIN = 60.0


class RawClient:
    """One conversation with a server: what was sent, heard, asked, and is still awaited."""

    def __init__(
        self,
        revision: str,
        *,
        capabilities: JsonObject | None = None,
        answers: Mapping[str, Answer] | None = None,
        checked: bool = True,
    ) -> None:
        self.revision = revision
        self.capabilities = {} if capabilities is None else capabilities
        self.answers = dict(answers or {})
        self.checked = checked
        self.server: JsonObject = {}  # the result of initialize or of server/discover
        self.heard: list[JsonObject] = []  # everything from the server, in order
        self.notifications: list[JsonObject] = []
        self.questions: list[JsonObject] = []
        self.problems: list[str] = []
        self._next_id = 0
        self._asked: dict[Any, str] = {}
        self._untaken: list[JsonObject] = []
        self._waiters: list[tuple[str, asyncio.Future[JsonObject]]] = []

    @property
    def modern(self) -> bool:
        return self.revision == MODERN

    # -- what tests call ---------------------------------------------------------------

    async def start(self) -> JsonObject:
        """The handshake, or `server/discover` where there is none."""
        if self.modern:
            self.server = await self.result("server/discover")
            return self.server
        hello = {"capabilities": self.capabilities, "clientInfo": CLIENT_INFO}
        self.server = await self.result("initialize", {"protocolVersion": self.revision, **hello})
        await self.notify("notifications/initialized")
        return self.server

    async def request(
        self,
        method: str,
        params: JsonObject | None = None,
        *,
        meta: JsonObject | None = None,
        id: int | str | None = None,
        within: float = WITHIN,
    ) -> JsonObject:
        """The whole response to one request."""
        message = self.message(method, params, meta=meta, id=id)
        async with asyncio.timeout(within):
            return await self.exchange(message)

    async def result(
        self, method: str, params: JsonObject | None = None, **options: Any
    ) -> JsonObject:
        response = await self.request(method, params, **options)
        assert "result" in response, f"{method}: {response.get('error')}"
        result: JsonObject = response["result"]
        return result

    async def error(
        self, method: str, params: JsonObject | None = None, **options: Any
    ) -> JsonObject:
        response = await self.request(method, params, **options)
        assert "error" in response, f"{method}: {response.get('result')}"
        error: JsonObject = response["error"]
        return error

    async def complete(
        self, method: str, params: JsonObject | None = None, **options: Any
    ) -> JsonObject:
        """The final result: `input_required` ones are answered from `answers` and sent again."""
        result = await self.result(method, params, **options)
        while result.get("resultType") == "input_required":
            again = {**(params or {}), "inputResponses": self.responses_to(result)}
            if "requestState" in result:
                again["requestState"] = result["requestState"]
            result = await self.result(method, again, **{**options, "id": None})
        return result

    async def call(
        self, tool: str, arguments: JsonObject | None = None, **options: Any
    ) -> JsonObject:
        """`tools/call` to its end, questions answered."""
        return await self.complete(
            "tools/call", {"name": tool, "arguments": arguments or {}}, **options
        )

    async def notify(self, method: str, params: JsonObject | None = None) -> None:
        message: JsonObject = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        await self.send(message)

    async def notification(self, method: str, within: float = WITHIN) -> JsonObject:
        """The first notification of this method that no earlier call here has returned."""
        for message in self._untaken:
            if message["method"] == method:
                self._untaken.remove(message)
                return message
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiters.append((method, future))
        async with asyncio.timeout(within):
            return await future

    # -- what the transports provide ---------------------------------------------------

    async def exchange(self, message: JsonObject) -> JsonObject:
        """Send a request and give its response."""
        raise NotImplementedError

    async def send(self, message: Any) -> None:
        """Send anything that has no response of its own."""
        raise NotImplementedError

    # -- shared ------------------------------------------------------------------------

    def message(
        self,
        method: str,
        params: JsonObject | None = None,
        *,
        meta: JsonObject | None = None,
        id: int | str | None = None,
    ) -> JsonObject:
        """A request as this revision spells it."""
        self._next_id += 1
        number = self._next_id if id is None else id
        message: JsonObject = {"jsonrpc": "2.0", "id": number, "method": method}
        whole = {**(self.envelope() if self.modern else {}), **(meta or {})}
        if whole:
            message["params"] = {**(params or {}), "_meta": whole}
        elif params is not None:
            message["params"] = params
        return message

    def envelope(self) -> JsonObject:
        return {
            PREFIX + "protocolVersion": self.revision,
            PREFIX + "clientInfo": CLIENT_INFO,
            PREFIX + "clientCapabilities": self.capabilities,
        }

    def hear(self, message: JsonObject) -> None:
        """Note a message from the server, check it, and wake who waits for it."""
        self.heard.append(message)
        if self.checked:
            answered = self._asked.get(message.get("id")) if "method" not in message else None
            self.problems += schemas.problems(message, self.revision, answered)
        if "method" in message and "id" in message:
            self.questions.append(message)
        elif "method" in message:
            self.notifications.append(message)
            self._offer(message)

    def _offer(self, message: JsonObject) -> None:
        for waiter in self._waiters:
            method, future = waiter
            if method == message["method"] and not future.done():
                self._waiters.remove(waiter)
                future.set_result(message)
                return
        self._untaken.append(message)

    def asked(self, message: JsonObject) -> None:
        self._asked[message["id"]] = message["method"]

    def reply_to(self, question: JsonObject) -> JsonObject:
        """The response to a question of the server."""
        head = {"jsonrpc": "2.0", "id": question["id"]}
        if question["method"] == "ping":
            return {**head, "result": {}}
        if question["method"] not in self.answers:
            return {**head, "error": {"code": -32601, "message": "Method not found"}}
        return {**head, "result": self.answer(question)}

    def responses_to(self, result: JsonObject) -> JsonObject:
        """The `inputResponses` to an `input_required` result."""
        questions = result.get("inputRequests", {})
        self.questions += questions.values()
        return {key: self.answer(question) for key, question in questions.items()}

    def answer(self, question: JsonObject) -> JsonObject:
        answer = self.answers[question["method"]]
        return answer(question.get("params", {})) if callable(answer) else answer

    def assert_well_formed(self) -> None:
        assert not self.problems, "\n".join(self.problems)


class DuplexClient(RawClient):
    """A client whose responses come back on one stream, in any order."""

    def __init__(self, revision: str, **options: Any) -> None:
        super().__init__(revision, **options)
        self._pending: dict[Any, asyncio.Future[JsonObject]] = {}
        self._over: str | None = None  # why nothing more will arrive

    async def exchange(self, message: JsonObject) -> JsonObject:
        future = await self.begin(message)
        return await future

    async def begin(self, message: JsonObject) -> asyncio.Future[JsonObject]:
        """Send a request and come back at once with what will be its response."""
        if self._over is not None:
            raise ConnectionError(self._over)
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._pending[message["id"]] = future
        self.asked(message)
        await self.send(message)
        return future

    async def arrive(self, message: Any) -> None:
        for single in message if isinstance(message, list) else [message]:
            self.hear(single)
            if "method" in single and "id" in single:
                await self.send(self.reply_to(single))
            elif "method" not in single:
                self._settle(single)

    def _settle(self, response: JsonObject) -> None:
        future = self._pending.pop(response.get("id"), None)
        if future is not None and not future.done():
            future.set_result(response)

    def hang_up(self, why: str) -> None:
        """Nothing more will arrive: whoever waits is told."""
        self._over = why
        for future in self._pending.values():
            if not future.done():
                future.set_exception(ConnectionError(why))
                future.exception()  # mark as seen: a test may not be waiting for this one


class StdioClient(DuplexClient):
    """A client over the pipes of a program that it started."""

    def __init__(self, running: Running, revision: str, **options: Any) -> None:
        super().__init__(revision, **options)
        self.running = running
        self.lines: list[bytes] = []  # stdout, exactly as it came

    async def send(self, message: Any) -> None:
        await self.send_line(json.dumps(message).encode())

    async def send_line(self, line: bytes) -> None:
        """Any bytes, as one line."""
        assert self.running.process.stdin is not None
        self.running.process.stdin.write(line + b"\n")
        # A program that has gone away is told to whoever waits for its answer.
        with suppress(ConnectionError):
            await self.running.process.stdin.drain()

    async def end_of_input(self, within: float = WITHIN) -> int:
        """Close stdin and wait for the program to end; its exit code."""
        assert self.running.process.stdin is not None
        self.running.process.stdin.close()
        async with asyncio.timeout(within):
            return await self.running.process.wait()

    async def listen(self) -> None:
        assert self.running.process.stdout is not None
        async for line in self.running.process.stdout:
            self.lines.append(line)
            try:
                await self.arrive(json.loads(line))
            except ValueError:
                self.problems.append(f"stdout carries what is not JSON: {line[:200]!r}")
        self.hang_up(f"the program ended; it said:\n{await self.running.last_words()}")


@asynccontextmanager
async def over_stdio(
    command: Sequence[str],
    revision: str = "2025-11-25",
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    start: bool = True,
    **options: Any,
) -> AsyncIterator[StdioClient]:
    """Spawn a program and talk to it; `start=False` leaves the handshake to the test."""
    async with spawned(command, env=env, cwd=cwd) as running:
        client = StdioClient(running, revision, **options)
        listener = asyncio.create_task(client.listen())
        try:
            if start:
                await client.start()
            yield client
        finally:
            listener.cancel()
    client.assert_well_formed()
