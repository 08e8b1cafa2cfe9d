"""What every strict server offers, in the forms that its revision has.

Names begin with the name of the server, so that many of them fit behind one gateway.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from tests.strict.asking import ASKING
from tests.strict.conversation import Conversation, Place, RpcError, Turn
from tests.strict.schema import Json, JsonObject

Tool: TypeAlias = Callable[[Turn, JsonObject], Awaitable[JsonObject]]

PIXEL = "iVBORw0KGgo="
SOUND = "UklGRiQAAABXQVZF"
PAGE = 5
PROMPT_ARGUMENTS = ("name", "kind", "tag")
ICON = {"src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48"]}


def text(said: Json) -> JsonObject:
    written = said if isinstance(said, str) else json.dumps(said)
    return {"content": [{"type": "text", "text": written}]}


async def echo(turn: Turn, arguments: JsonObject) -> JsonObject:
    said = arguments.get("text", "")
    vendor = {key: value for key, value in turn.meta.items() if key.startswith("x.test/")}
    result = {**text(said), "_meta": {"x.test/back": vendor}}
    if turn.talk.place.revision >= "2025-06-18":
        result["structuredContent"] = {"text": said}
    return result


def blocks(name: str) -> dict[str, JsonObject]:
    return {
        "image": {"type": "image", "data": PIXEL, "mimeType": "image/png"},
        "resource": {
            "type": "resource",
            "resource": {"uri": f"strict://{name}/a", "mimeType": "text/plain", "text": "inside"},
        },
        "audio": {"type": "audio", "data": SOUND, "mimeType": "audio/wav"},
        "link": {"type": "resource_link", "uri": f"strict://{name}/a", "name": "a"},
    }


async def kind(turn: Turn, arguments: JsonObject) -> JsonObject:
    block = blocks(turn.talk.place.name)[arguments["kind"]]
    return {"content": [{"type": "text", "text": "first"}, block]}


async def value(turn: Turn, arguments: JsonObject) -> JsonObject:
    return {**text([1, 2, 3]), "structuredContent": [1, 2, 3]}


async def fail(turn: Turn, arguments: JsonObject) -> JsonObject:
    return {**text("it failed"), "isError": True}


async def refuse(turn: Turn, arguments: JsonObject) -> JsonObject:
    raise RpcError(4242, "strictly refused", {"why": "asked to"})


async def progress(turn: Turn, arguments: JsonObject) -> JsonObject:
    token = turn.meta.get("progressToken")
    for step in (1, 2, 3) if token is not None else ():
        params: JsonObject = {"progressToken": token, "progress": step, "total": 3}
        if turn.talk.place.revision >= "2025-03-26":
            params["message"] = f"step {step}"
        await turn.tell("notifications/progress", params)
    return text("done")


async def logs(turn: Turn, arguments: JsonObject) -> JsonObject:
    for level in ("debug", "info", "error"):
        await turn.log(level, {"said": level, "tag": turn.tag})
    return text("logged")


async def slow(turn: Turn, arguments: JsonObject) -> JsonObject:
    turn.talk.place.note("started", tag=turn.tag)
    await asyncio.sleep(60)
    return text("never cancelled")


async def touch(turn: Turn, arguments: JsonObject) -> JsonObject:
    params = {"uri": arguments["uri"]}
    return text(await turn.talk.announce("notifications/resources/updated", params))


async def grow(turn: Turn, arguments: JsonObject) -> JsonObject:
    what = arguments["what"]
    turn.talk.place.grow(what, turn.tag)
    await turn.talk.announce(f"notifications/{what}/list_changed")
    return text("grown")


async def who(turn: Turn, arguments: JsonObject) -> JsonObject:
    return text(turn.capabilities)


async def heard(turn: Turn, arguments: JsonObject) -> JsonObject:
    return text(turn.talk.heard)


async def shown(turn: Turn, arguments: JsonObject) -> JsonObject:
    return text({key: value for key, value in arguments.items() if key != "tag"})


async def ping(turn: Turn, arguments: JsonObject) -> JsonObject:
    return text(await turn.talk.ask({"method": "ping"}, turn.reply))


@dataclass(frozen=True)
class Offer:
    run: Tool
    properties: JsonObject
    since: str = "2024-11-05"
    until: str = "2026-07-28"
    needs: str | None = None  # listed only to clients with this capability

    def offered(self, turn: Turn) -> bool:
        revision = turn.talk.place.revision
        there = self.since <= revision <= self.until
        return there and (self.needs is None or self.needs in turn.capabilities)


STRING, INTEGER = {"type": "string"}, {"type": "integer"}
HANDSHAKE = "2025-11-25"
TOOLS: dict[str, Offer] = {
    "echo": Offer(echo, {"text": STRING}),
    "kind": Offer(kind, {"kind": STRING}),
    "value": Offer(value, {}, since="2026-07-28"),
    "fail": Offer(fail, {}),
    "refuse": Offer(refuse, {}),
    "progress": Offer(progress, {}),
    "logs": Offer(logs, {}),
    "slow": Offer(slow, {}),
    "touch": Offer(touch, {"uri": STRING}),
    "grow": Offer(grow, {"what": STRING}),
    "who": Offer(who, {}),
    "heard": Offer(heard, {}, until=HANDSHAKE),
    "shown": Offer(shown, {"n": INTEGER}),
    "ping": Offer(ping, {}, until=HANDSHAKE),
    # As published servers do; in 2026-07-28 a list is the same for every connection.
    "sampler": Offer(shown, {}, until=HANDSHAKE, needs="sampling"),
    "rooted": Offer(shown, {}, until=HANDSHAKE, needs="roots"),
    **{
        name: Offer(run, {"form": STRING}, since, until)
        for name, (run, since, until) in ASKING.items()
    },
}


class StrictWorld:
    def capabilities(self, place: Place) -> JsonObject:
        changes = {"listChanged": True}
        found: JsonObject = {
            "tools": changes,
            "prompts": changes,
            "resources": {"subscribe": True, **changes},
            "logging": {},
        }
        return found if place.revision < "2025-03-26" else {**found, "completions": {}}

    async def answer(self, turn: Turn, method: str) -> JsonObject:
        handler = METHODS.get(method)
        if handler is None:
            raise RpcError(-32601, f"Method not found: {method}")
        return await handler(turn)


async def call_tool(turn: Turn) -> JsonObject:
    name = turn.params["name"].removeprefix(turn.talk.place.name + "_")
    if name not in TOOLS or not TOOLS[name].offered(turn):
        raise RpcError(-32602, f"Unknown tool: {turn.params['name']}")
    return await TOOLS[name].run(turn, turn.params.get("arguments", {}))


async def list_tools(turn: Turn) -> JsonObject:
    place = turn.talk.place
    names = [name for name, offer in TOOLS.items() if offer.offered(turn)]
    found = [definition(place, name, TOOLS[name].properties) for name in names]
    grown = [definition(place, f"grown_{tag}", {}) for tag in place.grown("tools")]
    return paged(turn, "tools", found + grown)


def definition(place: Place, name: str, properties: JsonObject) -> JsonObject:
    schema = {"type": "object", "properties": {"tag": STRING, **properties}}
    tool: JsonObject = {
        "name": f"{place.name}_{name}",
        "description": f"{name}!",
        "inputSchema": schema,
    }
    if place.revision >= "2025-03-26":
        tool["annotations"] = {"readOnlyHint": True, "title": name}
    if place.revision >= "2025-06-18":
        tool |= {"title": name.title(), "_meta": {"x.test/kept": 1}}
    if place.revision >= "2025-06-18" and name == "echo":
        tool["outputSchema"] = {"type": "object", "properties": {"text": STRING}}
    if name == "value":
        tool["outputSchema"] = {"type": "array", "items": INTEGER}
    if place.revision >= "2025-11-25":
        tool |= {"icons": [ICON]}
    return tool


def entry(place: Place, **fields: Json) -> JsonObject:
    """A prompt, resource or template, with what its revision has beside."""
    newer = {"title": "T", "_meta": {"x.test/kept": 1}} if place.revision >= "2025-06-18" else {}
    newest = {"icons": [ICON]} if place.revision >= "2025-11-25" else {}
    return {**fields, "description": "D", **newer, **newest}


async def list_prompts(turn: Turn) -> JsonObject:
    place = turn.talk.place
    arguments = [{"name": name, "required": False} for name in PROMPT_ARGUMENTS]
    names = ["greet", "asks", *(f"p{n}" for n in range(5))]
    names += [f"grown_{tag}" for tag in place.grown("prompts")]
    listed = [entry(place, name=f"{place.name}_{name}", arguments=arguments) for name in names]
    return paged(turn, "prompts", listed)


async def list_resources(turn: Turn) -> JsonObject:
    place = turn.talk.place
    names = ["a", "b", "asks", *(f"r{n}" for n in range(5))]
    names += [f"grown_{tag}" for tag in place.grown("resources")]
    annotations = {"audience": ["user"], "priority": 0.5}
    listed = [
        entry(place, uri=f"strict://{place.name}/{name}", name=name, annotations=annotations)
        for name in names
    ]
    return cached(turn, paged(turn, "resources", listed))


async def list_templates(turn: Turn) -> JsonObject:
    place = turn.talk.place
    uri = f"strict://{place.name}/item/{{id}}"
    return paged(turn, "resourceTemplates", [entry(place, uriTemplate=uri, name="item")])


def paged(turn: Turn, key: str, entries: list[JsonObject]) -> JsonObject:
    start = int(turn.params.get("cursor", "at-0").removeprefix("at-"))
    result: JsonObject = {key: entries[start : start + PAGE]}
    if start + PAGE < len(entries):
        result["nextCursor"] = f"at-{start + PAGE}"
    return cached(turn, result)


def cached(turn: Turn, result: JsonObject) -> JsonObject:
    return {**result, "ttlMs": 0, "cacheScope": "private"} if turn.talk.modern else result


async def read_resource(turn: Turn) -> JsonObject:
    uri = turn.params["uri"]
    name = uri.removeprefix(f"strict://{turn.talk.place.name}/")
    if name == "missing" or name == uri:
        raise RpcError(-32602 if turn.talk.modern else -32002, "Resource not found", {"uri": uri})
    if name == "asks":
        roots = await turn.ask("roots/list", {})
        return cached(turn, {"contents": [{"uri": uri, "text": json.dumps(roots["roots"])}]})
    if name == "b":
        blob = {"uri": uri, "mimeType": "image/png", "blob": PIXEL}
        return cached(turn, {"contents": [blob]})
    said = {"uri": uri, "mimeType": "text/plain", "text": f"this is {name}"}
    return cached(turn, {"contents": [said]})


async def get_prompt(turn: Turn) -> JsonObject:
    arguments = turn.params.get("arguments", {})
    said = f"Hello {arguments.get('name')}"
    if turn.params["name"].endswith("_asks"):
        said = json.dumps((await turn.ask("roots/list", {}))["roots"])
    message = {"role": "user", "content": {"type": "text", "text": said}}
    block = blocks(turn.talk.place.name)[arguments.get("kind", "image")]
    return {"description": "D", "messages": [message, {"role": "assistant", "content": block}]}


async def complete(turn: Turn) -> JsonObject:
    params = turn.params
    known = turn.talk.place.revision >= "2025-06-18"
    before = params.get("context", {}).get("arguments", {}) if known else {}
    ref = params["ref"].get("name") or params["ref"]["uri"]
    said = [f"{params['argument']['value']}{end}" for end in ("one", "two")]
    values = [*said, ref, json.dumps(before)]
    return {"completion": {"values": values, "total": 9, "hasMore": True}}


METHODS: dict[str, Callable[[Turn], Awaitable[JsonObject]]] = {
    "tools/list": list_tools,
    "tools/call": call_tool,
    "prompts/list": list_prompts,
    "prompts/get": get_prompt,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read_resource,
    "completion/complete": complete,
}


def conversation(place: Place, **options: Json) -> Conversation:
    return Conversation(place, StrictWorld(), **options)
