"""What passes through a gateway without a question: listings, calls, reading, telling."""

from __future__ import annotations

import asyncio

from tests.strict import world
from tests.strict.client import UI, Failed
from tests.strict.conversation import RpcError
from tests.strict.features_blocks import block, in_a_prompt
from tests.strict.pairing import Check, Lost, Pairing, Told, same
from tests.strict.schema import MODERN, Json, JsonObject
from tests.until import WITHIN, until

SINCE = {
    "annotations": "2025-03-26",
    "title": "2025-06-18",
    "_meta": "2025-06-18",
    "outputSchema": "2025-06-18",
    "icons": "2025-11-25",
}
SETTLE = 0.05


def fitting(entry: JsonObject, revision: str) -> JsonObject:
    """What a client of this revision is shown of an entry."""
    always = "uri" in entry  # resources have had annotations from the first
    return {
        key: value
        for key, value in entry.items()
        if SINCE.get(key, "") <= revision or (always and key == "annotations")
    }


async def lists_tools(pairing: Pairing) -> None:
    place = pairing.place
    expected = {}
    for name, offer in world.TOOLS.items():
        there = offer.since <= place.revision <= offer.until
        if there and (offer.needs is None or offer.needs in pairing.client.capabilities):
            tool = fitting(world.definition(place, name, offer.properties), pairing.client.revision)
            if name == "value" and pairing.client.revision < MODERN:
                tool.pop("outputSchema", None)
            expected[tool["name"]] = tool
    await listed(pairing, "tools", "name", expected)


async def listed(pairing: Pairing, kind: str, key: str, expected: dict[str, Json]) -> None:
    method = {"resourceTemplates": "resources/templates/list"}.get(kind, f"{kind}/list")
    entries = await pairing.client.listed(method, kind)
    of_this = [each for each in entries if pairing.place.name in each[key]]
    found = {each[key]: each for each in of_this if "grown" not in each[key]}
    if len(of_this) != len({each[key] for each in of_this}):
        raise Lost("listed twice")
    same(sorted(found), sorted(expected), "the list")
    for name, entry in expected.items():
        same(found[name], entry, name)


async def lists_prompts(pairing: Pairing) -> None:
    place, arguments = (
        pairing.place,
        [{"name": n, "required": False} for n in world.PROMPT_ARGUMENTS],
    )
    names = [f"{place.name}_{name}" for name in ("greet", "asks", *(f"p{n}" for n in range(5)))]
    whole = {name: world.entry(place, name=name, arguments=arguments) for name in names}
    await listed(pairing, "prompts", "name", shown_to(pairing, whole))


async def lists_resources(pairing: Pairing) -> None:
    annotations = {"audience": ["user"], "priority": 0.5}
    names = ("a", "b", "asks", *(f"r{n}" for n in range(5)))
    whole = {
        pairing.uri(name): world.entry(
            pairing.place, uri=pairing.uri(name), name=name, annotations=annotations
        )
        for name in names
    }
    await listed(pairing, "resources", "uri", shown_to(pairing, whole))


async def lists_templates(pairing: Pairing) -> None:
    uri = pairing.uri("item/{id}")
    whole = {uri: world.entry(pairing.place, uriTemplate=uri, name="item")}
    await listed(pairing, "resourceTemplates", "uriTemplate", shown_to(pairing, whole))


def shown_to(pairing: Pairing, entries: dict[str, JsonObject]) -> dict[str, JsonObject]:
    return {key: fitting(entry, pairing.client.revision) for key, entry in entries.items()}


async def calls(pairing: Pairing) -> None:
    result = await pairing.result("echo", text="héllo  wörld")
    same(result["content"], [{"type": "text", "text": "héllo  wörld"}], "content")


async def passes_meta(pairing: Pairing) -> None:
    result = await pairing.result("echo", {"x.test/key": {"a": 1}}, text="x")
    same(result.get("_meta", {}).get("x.test/back"), {"x.test/key": {"a": 1}}, "_meta")


async def structured(pairing: Pairing) -> None:
    result = await pairing.result("echo", text="x")
    if "structuredContent" not in result:
        same(result["content"], [{"type": "text", "text": "x"}], "content")
        raise Told("text alone")
    same(result["structuredContent"], {"text": "x"}, "structuredContent")


async def any_value(pairing: Pairing) -> None:
    result = await pairing.result("value")
    same(result["content"], [{"type": "text", "text": "[1, 2, 3]"}], "content")
    if "structuredContent" not in result:
        raise Told("text alone")
    same(result["structuredContent"], [1, 2, 3], "structuredContent")


async def fails(pairing: Pairing) -> None:
    result = await pairing.result("fail")
    same((result.get("isError"), result["content"][0]["text"]), (True, "it failed"))


async def refuses(pairing: Pairing) -> None:
    try:
        await pairing.result("refuse")
    except Failed as failed:
        expected = RpcError(4242, "strictly refused", {"why": "asked to"}).error
        same(failed.error, expected, "the error")
        return
    raise Lost("no error")


async def coerced(pairing: Pairing) -> None:
    same(await pairing.parsed("shown", n="3"), {"n": "3"}, "the arguments")


async def reads(pairing: Pairing) -> None:
    for name, expected in {
        "a": {"mimeType": "text/plain", "text": "this is a"},
        "b": {"mimeType": "image/png", "blob": world.PIXEL},
        "item/7": {"mimeType": "text/plain", "text": "this is item/7"},
    }.items():
        uri = pairing.uri(name)
        result = await pairing.client.whole("resources/read", {"uri": uri})
        same(result["contents"], [{"uri": uri, **expected}], name)


async def misses(pairing: Pairing) -> None:
    """A resource that is not there, in the client's words for it."""
    uri = pairing.uri("item/missing").replace("item/", "")
    try:
        await pairing.client.whole("resources/read", {"uri": uri})
    except Failed as failed:
        same(failed.error["code"], -32602 if pairing.client.modern else -32002, "the code")
        return
    raise Lost("no error")


async def prompts(pairing: Pairing) -> None:
    params = {"name": f"{pairing.place.name}_greet", "arguments": {"name": "Ann"}}
    result = await pairing.client.whole("prompts/get", params)
    image = {"type": "image", "data": world.PIXEL, "mimeType": "image/png"}
    said = {"role": "user", "content": {"type": "text", "text": "Hello Ann"}}
    same(result["messages"], [said, {"role": "assistant", "content": image}], "messages")


def completes(kind: str) -> Check:
    async def run(pairing: Pairing) -> None:
        name = f"{pairing.place.name}_greet"
        uri = pairing.uri("item/{id}")
        ref = {"type": "ref/prompt", "name": name}
        if kind == "template":
            ref = {"type": "ref/resource", "uri": uri}
        argument = {"name": "id" if kind == "template" else "name", "value": "x-"}
        result = await pairing.client.request(
            "completion/complete", {"ref": ref, "argument": argument}
        )
        values = ["x-one", "x-two", uri if kind == "template" else name, "{}"]
        same(result["completion"], {"values": values, "total": 9, "hasMore": True}, "completion")

    return Check(run)


async def completes_in_context(pairing: Pairing) -> None:
    ref = {"type": "ref/prompt", "name": f"{pairing.place.name}_greet"}
    params: JsonObject = {"ref": ref, "argument": {"name": "name", "value": ""}}
    params["context"] = {"arguments": {"tag": "before"}}
    result = await pairing.client.request("completion/complete", params)
    values = result["completion"]["values"]
    if values[3:] == ["{}"]:
        raise Told("without the context")
    same(values[3:], ['{"tag": "before"}'], "the context")


async def progresses(pairing: Pairing) -> None:
    steps = await steps_of(pairing)
    same([(step["progress"], step.get("total")) for step in steps], [(1, 3), (2, 3), (3, 3)])


async def explains_progress(pairing: Pairing) -> None:
    messages = [step.get("message") for step in await steps_of(pairing)]
    if messages == [None] * 3:
        raise Told("without a message")
    same(messages, ["step 1", "step 2", "step 3"], "messages")


async def steps_of(pairing: Pairing) -> list[JsonObject]:
    token = f"token of {pairing.tag}"
    same((await pairing.result("progress", {"progressToken": token}))["content"][0]["text"], "done")
    method = "notifications/progress"
    await pairing.client.hears(method, lambda step: step["progress"] == 3)
    return pairing.client.heard(method, lambda step: step["progressToken"] == token)


async def logs(pairing: Pairing) -> None:
    client, method = pairing.client, "notifications/message"
    await client.set_level("info")
    try:
        await pairing.said("logs")
        await client.hears(method, lambda log: log["level"] == "error")
    finally:
        await client.set_level(None)
    expected = [
        {"level": level, "logger": "strict", "data": {"said": level, "tag": pairing.tag}}
        for level in ("info", "error")
    ]
    found = [{key: log.get(key) for key in expected[0]} for log in client.heard(method)]
    same(found, expected, "the log")


async def logs_unasked(pairing: Pairing) -> None:
    await pairing.said("logs")
    await asyncio.sleep(SETTLE)
    same(pairing.client.heard("notifications/message"), [], "the log")


async def subscribes(pairing: Pairing) -> None:
    client, uri = pairing.client, pairing.uri(f"item/{pairing.tag}")
    method = "notifications/resources/updated"
    await client.subscribe(uri)
    try:
        await pairing.said("echo", text="x")
        await asyncio.sleep(SETTLE)
        if client.heard(method):
            raise Lost("told of a change before there was one")
        if await pairing.said("touch", uri=uri) == "0":
            raise Lost("the server that is called has no subscription")
        await client.hears(method, lambda params: params["uri"] == uri)
        await asyncio.sleep(SETTLE)
        same(len(client.heard(method)), 1, "the number of updates")
    finally:
        await client.unsubscribe(uri)
    client.notifications.clear()
    await pairing.said("touch", uri=uri)
    await asyncio.sleep(SETTLE)
    same(len(client.heard(method)), 0, "the number of updates after unsubscribing")


def grows(what: str) -> Check:
    async def run(pairing: Pairing) -> None:
        await pairing.said("grow", what=what)
        await pairing.client.hears(f"notifications/{what}/list_changed")
        key = "uri" if what == "resources" else "name"
        ending = f"grown_{pairing.tag}"

        async def has_grown() -> bool:
            listed = await pairing.client.listed(f"{what}/list", what)
            names = [each[key] for each in listed if pairing.place.name in each[key]]
            return any(name.endswith(ending) for name in names)

        await until(has_grown, 5)

    return Check(run)


async def cancels(pairing: Pairing) -> None:
    await cancelled(pairing)


async def cancels_with_reason(pairing: Pairing) -> None:
    note = await cancelled(pairing)
    unsaid = pairing.client.modern and pairing.us.transport == "http"
    if unsaid or note["reason"] in (None, "the stream was closed"):
        raise Told("without the reason")
    same(note["reason"], "changed my mind", "the reason")


async def cancelled(pairing: Pairing) -> JsonObject:
    client = pairing.client
    params = {"name": f"{pairing.place.name}_slow", "arguments": {"tag": pairing.tag}}
    message = client.message("tools/call", params, {})
    calling = asyncio.create_task(client.begin(message))
    try:
        await pairing.noted("started")
        await client.cancel(message, "changed my mind")
        return await pairing.noted("cancelled")
    finally:
        calling.cancel()
        await asyncio.wait([calling])


async def declares(pairing: Pairing) -> None:
    """The upstream is told what this client can do, as far as its revision has words for it."""
    found = await pairing.parsed("who")
    found.pop("extensions", None)
    same(abilities_in(found), common(pairing), "what the upstream is told")


def common(pairing: Pairing) -> list[str]:
    mine = set(abilities_in(pairing.client.capabilities))
    known = {"roots", "sampling"}
    if pairing.up.revision < MODERN:
        known |= {"roots.listChanged"}
    if pairing.up.revision >= "2025-06-18":
        known |= {"elicitation", "elicitation.form"}
    if pairing.up.revision >= "2025-11-25":
        known |= {"elicitation.url", "sampling.tools", "sampling.context"}
    return sorted(mine & known)


def abilities_in(capabilities: JsonObject) -> list[str]:
    found = set(capabilities) - {"extensions"}
    for kind in ("elicitation", "sampling"):
        found |= {f"{kind}.{part}" for part in capabilities.get(kind, {})}
    if "elicitation" in found and "elicitation.url" not in found:
        found.add("elicitation.form")  # an empty object means so
    if capabilities.get("roots", {}).get("listChanged"):
        found.add("roots.listChanged")
    return sorted(found)


async def extends(pairing: Pairing) -> None:
    found = (await pairing.parsed("who")).get("extensions")
    if found is None:
        raise Told("not told")
    same(found, UI, "extensions")


async def pings(pairing: Pairing) -> None:
    same(await pairing.parsed("ping"), {}, "the answer to a ping")


async def batches(pairing: Pairing) -> None:
    client, name = pairing.client, f"{pairing.place.name}_echo"
    messages = [
        client.message("tools/call", {"name": name, "arguments": {"text": said}}, {})
        for said in ("one", "two")
    ]
    async with asyncio.timeout(WITHIN):
        results = await client.batch(messages)
    same([result["content"][0]["text"] for result in results], ["one", "two"], "the answers")


HANDSHAKE = ("2024-11-05", "2025-11-25")
FEATURES: dict[str, Check] = {
    "tools/list": Check(lists_tools),
    "prompts/list": Check(lists_prompts),
    "resources/list": Check(lists_resources),
    "templates/list": Check(lists_templates),
    "call": Check(calls),
    "_meta": Check(passes_meta),
    "structured content": Check(structured, ("2025-06-18", MODERN)),
    "structured content of any kind": Check(any_value, (MODERN, MODERN)),
    "image block": block("image"),
    "resource block": block("resource"),
    "audio block": block("audio"),
    "link block": block("link"),
    "isError": Check(fails),
    "JSON-RPC error": Check(refuses),
    "arguments as sent": Check(coerced),
    "resources/read": Check(reads),
    "resource not found": Check(misses),
    "prompts/get": Check(prompts),
    "audio in a prompt": in_a_prompt("audio"),
    "link in a prompt": in_a_prompt("link"),
    "completion of a prompt": completes("prompt"),
    "completion of a template": completes("template"),
    "completion in context": Check(completes_in_context, clients=("2025-06-18", MODERN)),
    "progress": Check(progresses),
    "progress message": Check(explains_progress, ("2025-03-26", MODERN)),
    "logs": Check(logs),
    "no logs unasked": Check(logs_unasked, clients=(MODERN, MODERN)),
    "subscription": Check(subscribes),
    "tools/list_changed": grows("tools"),
    "prompts/list_changed": grows("prompts"),
    "resources/list_changed": grows("resources"),
    "cancellation": Check(cancels),
    "reason of a cancellation": Check(cancels_with_reason),
    "capabilities": Check(declares),
    "extensions": Check(extends, clients=(MODERN, MODERN)),
    "ping of the server": Check(pings, HANDSHAKE),
    "batch": Check(batches, clients=("2025-03-26", "2025-03-26")),
}
