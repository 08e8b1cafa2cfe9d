"""A client that speaks one revision alone and judges all that it hears. Knows no transport."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias

from tests.peers.serving import Running, spawned
from tests.strict.schema import MODERN, Json, JsonObject, judge

Answers: TypeAlias = dict[str, Callable[[JsonObject], JsonObject]]

PREFIX = "io.modelcontextprotocol/"
WITHIN = 60.0
TO_START = 60.0
INFO = {"name": "strict-client", "version": "1"}
UI = {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}


class Failed(Exception):
    """A JSON-RPC error."""

    def __init__(self, error: JsonObject) -> None:
        super().__init__(json.dumps(error)[:300])
        self.error = error


def abilities(revision: str) -> JsonObject:
    """Everything that a client of this revision can declare (but tasks)."""
    if revision == MODERN:
        modes: JsonObject = {"form": {}, "url": {}}
        sampling: JsonObject = {"tools": {}, "context": {}}
        return {"roots": {}, "sampling": sampling, "elicitation": modes, "extensions": UI}
    found: JsonObject = {"roots": {"listChanged": True}, "sampling": {}}
    if revision >= "2025-06-18":
        found["elicitation"] = {}
    if revision >= "2025-11-25":
        found["elicitation"] = {"form": {}, "url": {}}
        found["sampling"] = {"tools": {}, "context": {}}
    return found


@dataclass(frozen=True)
class Hearing:
    """What is being awaited."""

    method: str
    fits: Callable[[JsonObject], bool]


class StrictClient:
    def __init__(self, revision: str, capabilities: JsonObject) -> None:
        self.revision = revision
        self.modern = revision == MODERN
        self.capabilities = capabilities
        self.judge = judge(revision)
        self.level: str | None = None
        self.answers: Answers = {}
        self.questions: list[JsonObject] = []
        self.notifications: list[JsonObject] = []
        self.problems: list[str] = []
        self.server: JsonObject = {}
        self._ids = itertools.count(1)
        self._waiting: dict[Json, tuple[str, asyncio.Future[JsonObject]]] = {}
        self._given_up: set[Json] = set()
        self._news = asyncio.Condition()
        self._listens: dict[str, Json] = {}
        self.silent = False  # questions are heard and not answered

    # -- what a test uses ------------------------------------------------------------------

    async def start(self) -> None:
        if self.modern:
            self.server = await self.request("server/discover", {})
            return
        hello: JsonObject = {"protocolVersion": self.revision, "clientInfo": INFO}
        hello["capabilities"] = self.capabilities
        self.server = await self.request("initialize", hello)
        if self.server["protocolVersion"] != self.revision:
            self.problems.append(f"answered in {self.server['protocolVersion']}")
        await self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        await self.started()

    async def request(
        self, method: str, params: JsonObject | None = None, meta: JsonObject | None = None
    ) -> JsonObject:
        starting = method in ("initialize", "server/discover")
        async with asyncio.timeout(TO_START if starting else WITHIN):
            return await self.begin(self.message(method, params or {}, meta or {}))

    async def whole(
        self, method: str, params: JsonObject, meta: JsonObject | None = None
    ) -> JsonObject:
        """A request to its end, whatever is asked meanwhile."""
        result = await self.request(method, params, meta)
        while result.get("resultType") == "input_required":
            again = dict(params)
            if "inputRequests" in result:
                again["inputResponses"] = {
                    key: self.answer(question) for key, question in result["inputRequests"].items()
                }
            if "requestState" in result:
                again["requestState"] = result["requestState"]
            result = await self.request(method, again, meta)
        return result

    async def call(
        self, name: str, arguments: JsonObject, meta: JsonObject | None = None
    ) -> JsonObject:
        return await self.whole("tools/call", {"name": name, "arguments": arguments}, meta)

    async def listed(self, method: str, key: str) -> list[JsonObject]:
        """All pages."""
        result = await self.request(method)
        found: list[JsonObject] = list(result[key])
        while "nextCursor" in result:
            result = await self.request(method, {"cursor": result["nextCursor"]})
            found += result[key]
        return found

    async def hears(
        self, method: str, fits: Callable[[JsonObject], bool] = lambda params: True
    ) -> JsonObject:
        """The params of the first such notification since the last `forget`."""

        def found() -> JsonObject | None:
            return next(iter(self.heard(method, fits)), None)

        async with asyncio.timeout(WITHIN), self._news:
            await self._news.wait_for(lambda: found() is not None)
        params = found()
        assert params is not None
        return params

    def heard(
        self, method: str, fits: Callable[[JsonObject], bool] = lambda params: True
    ) -> list[JsonObject]:
        all_params = [n.get("params", {}) for n in self.notifications if n["method"] == method]
        return [params for params in all_params if fits(params)]

    def forget(self) -> None:
        self.notifications.clear()
        self.questions.clear()
        self.problems.clear()
        self.answers.clear()

    async def subscribe(self, uri: str) -> None:
        if self.modern:
            self._listens[uri] = await self.listen({"resourceSubscriptions": [uri]})
        else:
            await self.request("resources/subscribe", {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        if self.modern:
            await self.end_listen(self._listens.pop(uri))
        else:
            await self.request("resources/unsubscribe", {"uri": uri})

    async def set_level(self, level: str | None) -> None:
        if self.modern:
            self.level = level
        elif level is not None:
            await self.request("logging/setLevel", {"level": level})

    async def listen(self, filter: JsonObject) -> Json:
        """Open `subscriptions/listen`; its id, once it has been acknowledged."""
        message = self.message("subscriptions/listen", {"notifications": filter}, {})
        await self.open_listen(message)
        key = PREFIX + "subscriptionId"
        await self.hears(
            "notifications/subscriptions/acknowledged",
            lambda params: params["_meta"][key] == message["id"],
        )
        return message["id"]

    # -- what a transport provides ---------------------------------------------------------

    async def started(self) -> None:
        """After the handshake."""

    async def send(self, message: Json) -> None:
        raise NotImplementedError

    async def begin(self, message: JsonObject) -> JsonObject:
        """Send a request; its result."""
        future = self.await_answer(message)
        await self.send(message)
        return await future

    async def batch(self, messages: list[JsonObject]) -> list[JsonObject]:
        """Several requests at once, in a revision that has such; their results."""
        futures = [self.await_answer(message) for message in messages]
        await self.send(messages)
        return list(await asyncio.gather(*futures))

    async def cancel(self, message: JsonObject, reason: str) -> None:
        """Give a running request up, as this revision does on this transport."""
        self._given_up.add(message["id"])
        params = {"requestId": message["id"], "reason": reason}
        await self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    async def open_listen(self, message: JsonObject) -> None:
        self.await_answer(message)
        await self.send(message)

    async def end_listen(self, id: Json) -> None:
        self._given_up.add(id)
        params = {"requestId": id, "reason": "enough"}
        await self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})

    # -- shared ----------------------------------------------------------------------------

    def message(self, method: str, params: JsonObject, meta: JsonObject) -> JsonObject:
        whole = {**self._envelope(), **meta}
        message: JsonObject = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        if whole:
            params = {**params, "_meta": whole}
        if params:
            message["params"] = params
        wrong = self.judge.problems(message, "Client", None)
        assert not wrong, wrong
        return message

    def _envelope(self) -> JsonObject:
        if not self.modern:
            return {}
        level = {} if self.level is None else {PREFIX + "logLevel": self.level}
        return {
            PREFIX + "protocolVersion": MODERN,
            PREFIX + "clientInfo": INFO,
            PREFIX + "clientCapabilities": self.capabilities,
            **level,
        }

    def await_answer(self, message: JsonObject) -> asyncio.Future[JsonObject]:
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._waiting[message["id"]] = (message["method"], future)
        return future

    async def hear(self, message: Json) -> None:
        first = message[0] if isinstance(message, list) and message else message
        answers = None
        if isinstance(first, dict) and "method" not in first:
            answers = self._waiting.get(first.get("id"), (None,))[0]
        self.problems += self.judge.problems(message, "Server", answers)
        for each in message if isinstance(message, list) else [message]:
            await self._take(each)

    async def _take(self, message: JsonObject) -> None:
        if "method" not in message:
            self._settle(message)
        elif "id" in message:
            if self.silent:
                self.questions.append(message)
            else:
                await self.send(self._reply(message))
        else:
            async with self._news:
                self.notifications.append(message)
                self._news.notify_all()

    def _settle(self, message: JsonObject) -> None:
        if message.get("id") in self._given_up:
            self.problems.append(f"answered after it was cancelled: {json.dumps(message)[:200]}")
        _, future = self._waiting.pop(message.get("id"), (None, None))
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(Failed(message["error"]))
            future.exception()  # it may be that nobody waits any more
        else:
            future.set_result(message["result"])

    def _reply(self, question: JsonObject) -> JsonObject:
        head = {"jsonrpc": "2.0", "id": question["id"]}
        if question["method"] == "ping":
            return {**head, "result": {}}
        try:
            return {**head, "result": self.answer(question)}
        except Failed as refusal:
            return {**head, "error": refusal.error}

    def answer(self, question: JsonObject) -> JsonObject:
        self.questions.append(question)
        result = self.answers[question["method"]](question.get("params", {}))
        wrong = self.judge.of_answer(question["method"], result)
        assert not wrong, wrong
        return result


class StdioClient(StrictClient):
    def __init__(self, running: Running, revision: str, capabilities: JsonObject) -> None:
        super().__init__(revision, capabilities)
        self.running = running

    async def send(self, message: Json) -> None:
        assert self.running.process.stdin is not None
        self.running.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def follow(self) -> None:
        assert self.running.process.stdout is not None
        async for line in self.running.process.stdout:
            await self.hear(json.loads(line))


@asynccontextmanager
async def over_stdio(
    command: list[str], revision: str, capabilities: JsonObject, answers: Answers | None = None
) -> AsyncIterator[StrictClient]:
    async with spawned(command) as running:
        client = StdioClient(running, revision, capabilities)
        client.answers.update(answers or {})
        following = asyncio.create_task(client.follow())
        try:
            await client.start()
            yield client
        finally:
            following.cancel()
