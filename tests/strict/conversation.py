"""The server's side of one connection, in one revision alone. Knows no transport.

Whatever arrives is judged by the schema of the revision and noted when it is wrong; whatever
leaves is judged too, so that a fault of this peer is not taken for one of its client.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.strict.schema import MODERN, Json, JsonObject, judge

Send = Callable[[Json], Awaitable[None]]
PREFIX = "io.modelcontextprotocol/"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
NUMBERS = itertools.count(1)


class RpcError(Exception):
    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.error: JsonObject = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class Refused(Exception):
    """The client answered a question with an error."""

    def __init__(self, error: JsonObject) -> None:
        super().__init__(error.get("message"))
        self.error = error


class InputRequired(Exception):
    def __init__(self, result: JsonObject) -> None:
        super().__init__("input required")
        self.result = result


@dataclass(frozen=True)
class Place:
    """Which server this is, and the folder where it notes things and keeps what it has grown."""

    name: str
    revision: str
    folder: Path

    def note(self, what: str, **more: Json) -> None:
        line = json.dumps({"server": self.name, "pid": os.getpid(), "what": what, **more})
        with open(self.folder / f"{self.name}.notes", "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def grown(self, kind: str) -> list[str]:
        folder = self.folder / self.name / kind
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def grow(self, kind: str, tag: str) -> None:
        folder = self.folder / self.name / kind
        folder.mkdir(parents=True, exist_ok=True)
        (folder / tag).touch()


class World(Protocol):
    """What there is to ask for."""

    async def answer(self, turn: Turn, method: str) -> JsonObject: ...

    def capabilities(self, place: Place) -> JsonObject: ...


@dataclass
class Turn:
    """One request, and all that belongs to it."""

    talk: Conversation
    message: JsonObject
    reply: Send
    questions: int = 0

    @property
    def params(self) -> JsonObject:
        found: JsonObject = self.message.get("params", {})
        return found

    @property
    def meta(self) -> JsonObject:
        found: JsonObject = self.params.get("_meta", {})
        return found

    @property
    def capabilities(self) -> JsonObject:
        if self.talk.modern:
            found: JsonObject = self.meta.get(PREFIX + "clientCapabilities", {})
            return found
        return self.talk.declared

    @property
    def tag(self) -> str:
        return str((self.params.get("arguments") or {}).get("tag", ""))

    async def tell(self, method: str, params: JsonObject) -> None:
        await self.talk.out({"jsonrpc": "2.0", "method": method, "params": params}, self.reply)

    async def log(self, level: str, data: Json) -> None:
        least = self.meta.get(PREFIX + "logLevel") if self.talk.modern else self.talk.level
        if least is not None and LEVELS.index(level) >= LEVELS.index(least):
            params = {"level": level, "logger": "strict", "data": data}
            await self.tell("notifications/message", params)

    async def ask(self, method: str, params: JsonObject) -> JsonObject:
        """The client's answer: by a request of our own, or by this request coming again."""
        self.questions += 1
        question: JsonObject = {"method": method, "params": params}
        if self.talk.modern:
            return self._asked_before(f"q{self.questions}", question)
        return await self.talk.ask(question, self.reply)

    def _asked_before(self, key: str, question: JsonObject) -> JsonObject:
        state = json.loads(self.params.get("requestState", "{}"))
        known = {**state, **self.params.get("inputResponses", {})}
        if key not in known:
            raise InputRequired(
                {
                    "resultType": "input_required",
                    "inputRequests": {key: question},
                    "requestState": json.dumps(known),
                }
            )
        answer: JsonObject = known[key]
        wrong = self.talk.judge.of_answer(question["method"], answer)
        if wrong:
            self.talk.place.note("invalid", tag=self.tag, problems=wrong)
        return answer


@dataclass
class Listen:
    id: Json
    filter: JsonObject
    send: Send

    def wants(self, method: str, params: JsonObject) -> bool:
        if method == "notifications/resources/updated":
            return params["uri"] in self.filter.get("resourceSubscriptions", [])
        kind = method.split("/")[1]
        return bool(self.filter.get(f"{kind}ListChanged"))


@dataclass
class Conversation:
    place: Place
    world: World
    aside: Send | None = None  # for what belongs to no request
    number: int = field(default_factory=lambda: next(NUMBERS))
    declared: JsonObject = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    subscribed: set[str] = field(default_factory=set)
    level: str | None = None
    initialized: bool = False
    last_tag: str = ""
    listens: dict[Json, Listen] = field(default_factory=dict)
    running: dict[Json, asyncio.Task[None]] = field(default_factory=dict)
    reasons: dict[Json, Json] = field(default_factory=dict)
    asked: dict[Json, tuple[str, asyncio.Future[JsonObject]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.judge = judge(self.place.revision)
        self.modern = self.place.revision == MODERN

    # -- what comes ------------------------------------------------------------------------

    def receive(self, message: Json, reply: Send) -> asyncio.Task[None] | None:
        """Take a message; a request becomes a task that ends when it has been answered."""
        if isinstance(message, dict) and self._is_probe(message):
            return asyncio.create_task(self._refuse(message, reply))
        if self._wrong(message):
            return asyncio.create_task(self._reject(message, reply))
        if "method" not in message:
            self._settle(message)
            return None
        if "id" not in message:
            self._notified(message)
            return None
        task = asyncio.create_task(self._serve(Turn(self, message, reply)))
        self.running[message["id"]] = task
        task.add_done_callback(lambda _: self.running.pop(message["id"], None))
        return task

    async def receive_batch(self, messages: list[Json], reply: Send) -> None:
        """2025-03-26: all the answers in one message."""
        answers: list[Json] = []

        async def collect(message: Json) -> None:
            answers.append(message)

        tasks = [self.receive(message, collect) for message in messages]
        await asyncio.gather(*(task for task in tasks if task is not None))
        await reply(answers)

    def cancel(self, id: Json, reason: Json) -> None:
        self.reasons[id] = reason
        task = self.running.get(id)
        if task is not None:
            task.cancel()

    def _is_probe(self, message: JsonObject) -> bool:
        """How a client of several eras finds out: neither side is wrong."""
        other = "initialize" if self.modern else "server/discover"
        return message.get("method") == other and "id" in message

    async def _refuse(self, message: JsonObject, reply: Send) -> None:
        await self.out(failure(message["id"], -32601, "Method not found"), reply)

    def _wrong(self, message: Json) -> list[str]:
        answers = None
        if isinstance(message, dict) and "method" not in message:
            answers = self.asked.get(message.get("id"), (None,))[0]
            if answers is None and "error" not in message and "id" in message:
                return []  # an answer that came too late: we have said that we do not wait
        wrong = self.judge.problems(message, "Client", answers)
        if not wrong and not self.modern and "method" in message and not self.initialized:
            early = message["method"] not in ("initialize", "ping", "notifications/initialized")
            wrong = [f"{message['method']} before initialized"] if early else []
        if wrong:
            self.place.note("invalid", tag=self._tag_of(message), problems=wrong)
        return wrong

    def _tag_of(self, message: Json) -> str:
        params = message.get("params") if isinstance(message, dict) else None
        arguments = params.get("arguments") if isinstance(params, dict) else None
        if isinstance(arguments, dict) and "tag" in arguments:
            self.last_tag = str(arguments["tag"])
        return self.last_tag

    async def _reject(self, message: Json, reply: Send) -> None:
        if not isinstance(message, dict) or "id" not in message:
            return
        refusal = failure(message["id"], -32600, "Not of this revision")
        if "method" in message:
            await self.out(refusal, reply)
        else:
            self._settle(refusal)  # an answer that cannot be read is as good as none

    def _settle(self, message: JsonObject) -> None:
        _, future = self.asked.pop(message["id"], (None, None))
        if future is not None and not future.done():
            future.set_result(message)

    def _notified(self, message: JsonObject) -> None:
        self.heard.append(message["method"])
        if message["method"] == "notifications/initialized":
            self.initialized = True
        if message["method"] == "notifications/cancelled":
            params = message["params"]
            listen = self.listens.pop((self.number, params["requestId"]), None)
            if listen is None:
                self.cancel(params["requestId"], params.get("reason"))

    # -- what is answered ------------------------------------------------------------------

    async def _serve(self, turn: Turn) -> None:
        self._tag_of(turn.message)
        id = turn.message["id"]
        try:
            result = await self._result(turn)
        except asyncio.CancelledError:
            tag, reason = turn.tag, self.reasons.pop(id, None)
            self.place.note("cancelled", tag=tag, reason=reason)
            return
        except InputRequired as asks:
            result = asks.result
        except RpcError as error:
            await self.out({"jsonrpc": "2.0", "id": id, "error": error.error}, turn.reply)
            return
        if result is not None:
            answer = {"jsonrpc": "2.0", "id": id, "result": result}
            await self.out(answer, turn.reply, turn.message["method"])

    async def _result(self, turn: Turn) -> JsonObject | None:
        method = turn.message["method"]
        own = getattr(self, "_do_" + method.replace("/", "_").replace(".", "_"), None)
        if own is not None:
            found: JsonObject | None = await own(turn)
            return found
        result = await self.world.answer(turn, method)
        return {"resultType": "complete", **result} if self.modern else result

    async def _do_initialize(self, turn: Turn) -> JsonObject:
        self.declared = turn.params["capabilities"]
        self.place.note("initialize", connection=self.number, capabilities=self.declared)
        return {
            "protocolVersion": self.place.revision,
            "capabilities": self.world.capabilities(self.place),
            "serverInfo": {"name": self.place.name, "version": "1"},
        }

    async def _do_ping(self, turn: Turn) -> JsonObject:
        return {}

    async def _do_server_discover(self, turn: Turn) -> JsonObject:
        return {
            "resultType": "complete",
            "supportedVersions": [MODERN],
            "capabilities": self.world.capabilities(self.place),
            "ttlMs": 0,
            "cacheScope": "private",
        }

    async def _do_logging_setLevel(self, turn: Turn) -> JsonObject:
        self.level = turn.params["level"]
        return {}

    async def _do_resources_subscribe(self, turn: Turn) -> JsonObject:
        self.subscribed.add(turn.params["uri"])
        return {}

    async def _do_resources_unsubscribe(self, turn: Turn) -> JsonObject:
        self.subscribed.discard(turn.params["uri"])
        return {}

    async def _do_subscriptions_listen(self, turn: Turn) -> None:
        id = turn.message["id"]
        listen = Listen(id, turn.params["notifications"], turn.reply)
        params = {"_meta": {PREFIX + "subscriptionId": id}, "notifications": listen.filter}
        await turn.tell("notifications/subscriptions/acknowledged", params)
        self.listens[self.number, id] = listen

    # -- what is sent ----------------------------------------------------------------------

    async def ask(self, question: JsonObject, reply: Send) -> JsonObject:
        id = f"ask-{next(NUMBERS)}"
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self.asked[id] = (question["method"], future)
        try:
            await self.out({"jsonrpc": "2.0", "id": id, **question}, reply)
            response = await future
        except asyncio.CancelledError:
            with suppress(ConnectionError):
                gone: JsonObject = {"requestId": id, "reason": "nobody waits"}
                told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone}
                await self.out(told, reply)
            raise
        if "error" in response:
            raise Refused(response["error"])
        result: JsonObject = response["result"]
        return result

    async def announce(self, method: str, params: JsonObject | None = None) -> int:
        """Tell whoever has asked for it; how many were told."""
        if not self.modern:
            if method.endswith("/updated") and (params or {}).get("uri") not in self.subscribed:
                return 0
            if self.aside is None:
                return 0
            message: JsonObject = {"jsonrpc": "2.0", "method": method}
            await self.out({**message, "params": params} if params else message, self.aside)
            return 1
        wanting = [each for each in self.listens.values() if each.wants(method, params or {})]
        for listen in wanting:
            whole = {**(params or {}), "_meta": {PREFIX + "subscriptionId": listen.id}}
            await self.out({"jsonrpc": "2.0", "method": method, "params": whole}, listen.send)
        return len(wanting)

    async def out(self, message: JsonObject, send: Send, answers: str | None = None) -> None:
        wrong = self.judge.problems(message, "Server", answers)
        if wrong:
            self.place.note("own fault", problems=wrong)
        with suppress(ConnectionError):
            await send(message)


def failure(id: Json, code: int, message: str) -> JsonObject:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
