"""What passes through a gateway when a server asks its client something."""

from __future__ import annotations

import json
from typing import Any

from tests.strict import asking
from tests.strict.client import Failed
from tests.strict.features import HANDSHAKE
from tests.strict.pairing import Check, Lost, Pairing, Told, same
from tests.strict.schema import MODERN, Json, JsonObject
from tests.until import until

ROOTS = {"roots": [{"uri": "file:///home/ann", "name": "Ann's"}, {"uri": "file:///srv"}]}
SAMPLED: JsonObject = {
    "role": "assistant",
    "model": "small",
    "stopReason": "endTurn",
    "content": {"type": "text", "text": "brief"},
}
CONTENT = {"name": "Ann", "age": 7, "colour": "red"}
NEWEST = ("2025-11-25", MODERN)
ELICITING = ("2025-06-18", MODERN)


def elicits(action: str) -> Check:
    async def run(pairing: Pairing) -> None:
        answer: JsonObject = {"action": action}
        if action == "accept":
            answer["content"] = CONTENT
        pairing.client.answers["elicitation/create"] = lambda params: answer
        same(await pairing.parsed("form"), answer, "the answer")
        (question,) = pairing.client.questions
        asked = {key: question["params"].get(key) for key in ("message", "requestedSchema")}
        expected = {"message": "Who are you?", "requestedSchema": asking.FORM}
        same(asked, expected, "the question")

    return Check(run, ELICITING)


def chooses(form: str, chosen: Json) -> Check:
    """In 2025-06-18: titles in the older way, and several choices as a yes or no for each."""

    async def run(pairing: Pairing) -> None:
        def choose(params: JsonObject) -> JsonObject:
            fields = params["requestedSchema"]["properties"]
            content = {"colour": chosen} if "colour" in fields else dict.fromkeys(fields, True)
            return {"action": "accept", "content": content}

        pairing.client.answers["elicitation/create"] = choose
        answer = {"action": "accept", "content": {"colour": chosen}}
        same(await pairing.parsed("choose", form=form), answer, "the answer")
        (question,) = pairing.client.questions
        if form == "several" and pairing.us.revision < NEWEST[0]:
            return
        asked = question["params"]["requestedSchema"]["properties"]["colour"]
        older = {"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"]}
        expected = asking.CHOICES[form] if pairing.us.revision >= NEWEST[0] else older
        same(asked, expected, "the choice")

    return Check(run, NEWEST)


async def elicits_by_url(pairing: Pairing) -> None:
    pairing.client.answers["elicitation/create"] = lambda params: {"action": "accept"}
    same(await pairing.parsed("url"), {"action": "accept"}, "the answer")
    (question,) = pairing.client.questions
    asked = {key: question["params"].get(key) for key in ("mode", "message", "url")}
    same(asked, {"mode": "url", "message": "Please consent", "url": asking.URL}, "the question")
    if pairing.us.revision == pairing.up.revision == "2025-11-25":
        same(question["params"]["elicitationId"], f"consent-{pairing.tag}", "elicitationId")


async def completes_a_url(pairing: Pairing) -> None:
    pairing.client.answers["elicitation/create"] = lambda params: {"action": "accept"}
    await pairing.said("url")
    if pairing.client.modern:
        raise Told("its revision does not have it")
    identifier = pairing.client.questions[0]["params"]["elicitationId"]
    told = await pairing.client.hears("notifications/elicitation/complete")
    same(told["elicitationId"], identifier, "elicitationId")


async def requires_a_url(pairing: Pairing) -> None:
    """-32042 and the call again; or the question itself, where the client has no such error."""
    pairing.client.answers["elicitation/create"] = lambda params: {"action": "accept"}
    if pairing.client.modern:
        same(await pairing.parsed("url_first"), "consented", "the answer")
        same(pairing.client.questions[0]["params"]["url"], asking.URL, "the question")
        return
    try:
        await pairing.said("url_first")
    except Failed as failed:
        same(failed.error["code"], -32042, "the code")
        wanted = failed.error["data"]["elicitations"][0]
        same(wanted["elicitationId"], f"e-{pairing.tag}", "elicitationId")
    else:
        raise Lost("no error")
    same(await pairing.parsed("url_first"), "consented", "the answer")


def samples(form: str, answered: str = "text", since: str = "2024-11-05") -> Check:
    """The question in one form, the answer in another."""

    async def run(pairing: Pairing) -> None:
        answer = {**SAMPLED, "content": ANSWERS[answered]}
        if answered == "tools":
            answer["stopReason"] = "toolUse"
        pairing.client.answers["sampling/createMessage"] = lambda params: answer
        found = await pairing.parsed("sample", form=form)
        same(blocks(found.pop("content")), blocks(answer["content"]), "the content of the answer")
        same(found, {k: v for k, v in answer.items() if k != "content"}, "the answer")
        compare_question(pairing, form)

    asked_since = {"audio": "2025-03-26", "one": NEWEST[0], "many": NEWEST[0], "tools": NEWEST[0]}
    return Check(run, (asked_since.get(form, "2024-11-05"), MODERN), (since, MODERN))


ANSWERS: dict[str, Json] = {
    **asking.BLOCKS,
    "text": SAMPLED["content"],
    "tools": {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Bonn"}},
}


def blocks(content: Json) -> list[Json]:
    """A single block and a list of it are the same thing said."""
    return content if isinstance(content, list) else [content]


def compare_question(pairing: Pairing, form: str) -> None:
    (question,) = pairing.client.questions
    params: dict[str, Any] = question["params"]
    kept = {key: params.get(key) for key in asking.SAMPLING}
    same(kept, asking.SAMPLING, "the question")
    expected = asking.BLOCKS.get(form, asking.BLOCKS["text"])
    same(blocks(params["messages"][0]["content"]), blocks(expected), "its content")
    if form == "tools":
        same(params["tools"], [asking.WEATHER], "its tools")


async def refuses_to_sample(pairing: Pairing) -> None:
    """A person who says no: the server that asked gets the error that the client answered."""
    refusal = {"code": -1, "message": "User rejected sampling request", "data": {"by": "Ann"}}

    def refuse(params: JsonObject) -> JsonObject:
        raise Failed(refusal)

    pairing.client.answers["sampling/createMessage"] = refuse
    try:
        await pairing.said("sample", form="text")
    except Told as told:
        if pairing.up.revision == MODERN:
            raise
        same(json.loads(str(told).partition(": ")[2]), refusal, "the refusal")
        return
    raise Lost("answered")


async def tells_roots(pairing: Pairing) -> None:
    pairing.client.answers["roots/list"] = lambda params: ROOTS
    same(await pairing.parsed("roots"), ROOTS, "roots")


async def tells_changed_roots(pairing: Pairing) -> None:
    client, method = pairing.client, "notifications/roots/list_changed"
    client.answers["roots/list"] = lambda params: ROOTS
    await pairing.said("roots")
    if pairing.up.revision == MODERN:
        raise Told("it asks each time")
    before = (await pairing.parsed("heard")).count(method)
    await client.send({"jsonrpc": "2.0", "method": method})

    async def told() -> bool:
        return bool((await pairing.parsed("heard")).count(method) != before)

    await until(told, 3)
    same((await pairing.parsed("heard")).count(method), before + 1, "how often it was told")


async def asks_twice(pairing: Pairing) -> None:
    pairing.client.answers["roots/list"] = lambda params: ROOTS
    pairing.client.answers["sampling/createMessage"] = lambda params: SAMPLED
    same(await pairing.parsed("twice"), [ROOTS, SAMPLED], "the answers")


async def asks_in_a_prompt(pairing: Pairing) -> None:
    pairing.client.answers["roots/list"] = lambda params: ROOTS
    params = {"name": f"{pairing.place.name}_asks", "arguments": {"tag": pairing.tag}}
    result = await pairing.client.whole("prompts/get", params)
    said = json.loads(result["messages"][0]["content"]["text"])
    same(said, ROOTS["roots"], "roots")


async def asks_in_a_resource(pairing: Pairing) -> None:
    pairing.client.answers["roots/list"] = lambda params: ROOTS
    result = await pairing.client.whole("resources/read", {"uri": pairing.uri("asks")})
    same(json.loads(result["contents"][0]["text"]), ROOTS["roots"], "roots")


async def goes_on(pairing: Pairing) -> None:
    """A server that does not wait for the answer: its result arrives all the same."""
    client, name = pairing.client, f"{pairing.place.name}_impatient"
    params: JsonObject = {"name": name, "arguments": {"tag": pairing.tag}}
    if not client.modern:
        client.silent = True
        try:
            same(await pairing.parsed("impatient"), "went on", "the answer")
        finally:
            client.silent = False
        return
    client.answers["roots/list"] = lambda params: ROOTS
    result = await client.request("tools/call", params)
    same(result.get("resultType"), "input_required", "resultType")
    await pairing.noted("went on")
    again = {"inputResponses": dict.fromkeys(result["inputRequests"], ROOTS)}
    again["requestState"] = result["requestState"]
    result = await client.whole("tools/call", {**params, **again})
    same(json.loads(result["content"][0]["text"]), "went on", "the answer")


async def withdraws(pairing: Pairing) -> None:
    """A question that a server takes back is taken back from the client."""
    client = pairing.client
    client.silent = True
    try:
        await pairing.said("impatient")
        id = client.questions[0]["id"]
        gone = await client.hears(
            "notifications/cancelled", lambda params: params["requestId"] == id
        )
        same(gone.get("reason"), "nobody waits", "the reason")
    finally:
        client.silent = False


ASKING: dict[str, Check] = {
    "elicitation, accepted": elicits("accept"),
    "elicitation, declined": elicits("decline"),
    "elicitation, cancelled": elicits("cancel"),
    "elicitation, titled choices": chooses("titled", "r"),
    "elicitation, several choices": chooses("several", ["r", "b"]),
    "elicitation by URL": Check(elicits_by_url, NEWEST),
    "elicitation/complete": Check(completes_a_url, ("2025-11-25", "2025-11-25")),
    "URL required first": Check(requires_a_url, ("2025-11-25", "2025-11-25")),
    "sampling": samples("text"),
    "sampling, image": samples("image", "image"),
    "sampling, audio asked": samples("audio"),
    "sampling, audio answered": samples("text", "audio", "2025-03-26"),
    "sampling, a list of one asked": samples("one"),
    "sampling, a list of one answered": samples("text", "one", "2025-11-25"),
    "sampling, many blocks asked": samples("many"),
    "sampling, many blocks answered": samples("text", "many", "2025-11-25"),
    "sampling with tools": samples("tools", "tools"),
    "sampling, refused": Check(refuses_to_sample, clients=HANDSHAKE),
    "roots": Check(tells_roots),
    "roots/list_changed": Check(tells_changed_roots, clients=HANDSHAKE),
    "two questions": Check(asks_twice),
    "question in prompts/get": Check(asks_in_a_prompt),
    "question in resources/read": Check(asks_in_a_resource),
    "going on without an answer": Check(goes_on, HANDSHAKE),
    "taking a question back": Check(withdraws, HANDSHAKE, HANDSHAKE),
}


async def not_asked(pairing: Pairing) -> None:
    """A client that cannot be asked: the server knows it, and says so."""
    tools = ["sample", "roots", "twice"]
    tools += ["form"] if pairing.up.revision >= "2025-06-18" else []
    tools += ["url"] if pairing.up.revision >= "2025-11-25" else []
    for tool in tools:
        try:
            await pairing.said(tool)
        except Told as told:
            if "has not declared" not in str(told):
                raise
        else:
            raise Lost(f"{tool} was answered")
