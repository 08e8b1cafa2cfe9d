"""How many of a model's tokens a call takes: an estimate, cheap enough for each call. Pure."""

from __future__ import annotations

from toolyard.protocol.call import Encoded, Json, JsonObject, Result
from toolyard.protocol.codec import dumps


def argument_characters(arguments: Json) -> int:
    return len(dumps(arguments)) if arguments else 0


def result_characters(result: Result) -> int:
    """Of what a model reads: texts, or the structured content where there is no text.

    Pictures and sound are counted by nobody in characters, and left out.
    """
    if isinstance(result, Encoded):
        return len(result.body)
    content = result.get("content")
    if type(content) is list:
        characters = _texts(content)
        if characters == 0 and result.get("structuredContent") is not None:
            return len(dumps(result["structuredContent"]))
        return characters
    return _of_other_methods(result)


def _of_other_methods(result: JsonObject) -> int:
    contents, messages = result.get("contents"), result.get("messages")
    if type(contents) is list:
        return _texts(contents)
    if type(messages) is list:
        return _texts([item.get("content") for item in messages if isinstance(item, dict)])
    return 0


def _texts(items: list[Json]) -> int:
    characters = 0
    for item in items:
        text = item.get("text") if type(item) is dict else None
        if type(text) is str:
            characters += len(text)
    return characters
