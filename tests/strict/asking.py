"""The tools of a strict server that ask its client something, and say what they were told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tests.strict.conversation import Refused, RpcError, Turn
from tests.strict.schema import Json, JsonObject

Asking: TypeAlias = Callable[[Turn, JsonObject], Awaitable[JsonObject]]

FORM: JsonObject = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1},
        "age": {"type": "integer", "minimum": 0},
        "colour": {"type": "string", "enum": ["red", "blue"]},
    },
    "required": ["name"],
}
TITLED = [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]
CHOICES: dict[str, JsonObject] = {
    "titled": {"type": "string", "oneOf": TITLED},
    "several": {"type": "array", "items": {"type": "string", "enum": ["r", "b"]}},
}
URL = "https://example.com/consent"
IMPATIENCE = 0.3
BLOCKS: dict[str, Json] = {
    "text": {"type": "text", "text": "say something"},
    "image": {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    "audio": {"type": "audio", "data": "UklGRiQAAABXQVZF", "mimeType": "audio/wav"},
    "one": [{"type": "text", "text": "alone"}],
    "many": [{"type": "text", "text": "first"}, {"type": "text", "text": "second"}],
}
SAMPLING: JsonObject = {
    "systemPrompt": "Be brief.",
    "maxTokens": 17,
    "temperature": 0.25,
    "stopSequences": ["END"],
    "modelPreferences": {"hints": [{"name": "small"}], "costPriority": 0.5},
    "metadata": {"x": 1},
}
WEATHER = {"name": "weather", "inputSchema": {"type": "object"}}


def told(answer: Json) -> JsonObject:
    return {"content": [{"type": "text", "text": json.dumps(answer)}]}


def cannot(why: str) -> JsonObject:
    return {"content": [{"type": "text", "text": why}], "isError": True}


def lacks(turn: Turn, kind: str, part: str | None = None) -> str | None:
    """Why the client may not be asked, by what it has declared."""
    declared = turn.capabilities.get(kind)
    if declared is None:
        return f"the client has not declared {kind}"
    plain_form = kind == "elicitation" and part == "form" and "url" not in declared
    if part is not None and not plain_form and part not in declared:
        return f"the client has not declared {kind}.{part}"
    return None


async def asked(turn: Turn, method: str, params: JsonObject) -> JsonObject:
    try:
        return told(await turn.ask(method, params))
    except Refused as refused:
        return cannot(f"the question was refused: {json.dumps(refused.error)}")


def form_params(turn: Turn) -> JsonObject:
    params: JsonObject = {"message": "Who are you?", "requestedSchema": FORM}
    newest = turn.talk.place.revision >= "2025-11-25"
    return {"mode": "form", **params} if newest else params


async def form(turn: Turn, arguments: JsonObject) -> JsonObject:
    why = lacks(turn, "elicitation", "form" if turn.talk.place.revision > "2025-06-18" else None)
    return cannot(why) if why else await asked(turn, "elicitation/create", form_params(turn))


async def choose(turn: Turn, arguments: JsonObject) -> JsonObject:
    why = lacks(turn, "elicitation", "form")
    if why:
        return cannot(why)
    schema = {"type": "object", "properties": {"colour": CHOICES[arguments["form"]]}}
    params = {"mode": "form", "message": "Which?", "requestedSchema": schema}
    return await asked(turn, "elicitation/create", params)


async def url(turn: Turn, arguments: JsonObject) -> JsonObject:
    why = lacks(turn, "elicitation", "url")
    if why:
        return cannot(why)
    params = {"mode": "url", "message": "Please consent", "url": URL}
    if turn.talk.modern:
        return await asked(turn, "elicitation/create", params)
    params["elicitationId"] = f"consent-{turn.tag}"
    answer = await asked(turn, "elicitation/create", params)
    done = {"elicitationId": params["elicitationId"]}
    await turn.tell("notifications/elicitation/complete", done)
    return answer


async def url_first(turn: Turn, arguments: JsonObject) -> JsonObject:
    """2025-11-25 may also end a call with what has to be done first, and be called again."""
    why = lacks(turn, "elicitation", "url")
    if why:
        return cannot(why)
    seen = turn.talk.place.grown("consents")
    if turn.tag in seen:
        return told("consented")
    turn.talk.place.grow("consents", turn.tag)
    wanted = {"mode": "url", "message": "First", "url": URL, "elicitationId": f"e-{turn.tag}"}
    raise RpcError(-32042, "Consent first", {"elicitations": [wanted]})


async def sample(turn: Turn, arguments: JsonObject) -> JsonObject:
    kind = arguments.get("form", "text")
    why = lacks(turn, "sampling", "tools" if kind == "tools" else None)
    if why:
        return cannot(why)
    message = {"role": "user", "content": BLOCKS.get(kind, BLOCKS["text"])}
    params = {**SAMPLING, "messages": [message]}
    if kind == "tools":
        params |= {"tools": [WEATHER], "toolChoice": {"mode": "auto"}}
    return await asked(turn, "sampling/createMessage", params)


async def roots(turn: Turn, arguments: JsonObject) -> JsonObject:
    why = lacks(turn, "roots")
    return cannot(why) if why else await asked(turn, "roots/list", {})


async def twice(turn: Turn, arguments: JsonObject) -> JsonObject:
    """One question after the other, in one call."""
    why = lacks(turn, "roots") or lacks(turn, "sampling")
    if why:
        return cannot(why)
    first = await turn.ask("roots/list", {})
    message = {"role": "user", "content": BLOCKS["text"]}
    params = {"maxTokens": 5, "messages": [message]}
    return told([first, await turn.ask("sampling/createMessage", params)])


async def impatient(turn: Turn, arguments: JsonObject) -> JsonObject:
    """Asks, and goes on without the answer."""
    why = lacks(turn, "roots")
    if why:
        return cannot(why)
    try:
        async with asyncio.timeout(IMPATIENCE):
            await turn.ask("roots/list", {})
    except TimeoutError:
        turn.talk.place.note("went on", tag=turn.tag)
        return told("went on")
    return told("answered")


ASKING: dict[str, tuple[Asking, str, str]] = {
    "form": (form, "2025-06-18", "2026-07-28"),
    "choose": (choose, "2025-11-25", "2026-07-28"),
    "url": (url, "2025-11-25", "2026-07-28"),
    "url_first": (url_first, "2025-11-25", "2025-11-25"),
    "sample": (sample, "2024-11-05", "2026-07-28"),
    "roots": (roots, "2024-11-05", "2026-07-28"),
    "twice": (twice, "2024-11-05", "2026-07-28"),
    "impatient": (impatient, "2024-11-05", "2025-11-25"),
}
