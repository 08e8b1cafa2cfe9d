"""One result, shaped for the revision that asked: the only place that drops or adds fields.

Drops only what a later revision defines; vendor and unknown fields stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from toolyard.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    RESOURCE_NOT_FOUND,
    URL_REQUIRED,
    ProtocolError,
)
from toolyard.protocol.asking.questions import urls_of
from toolyard.protocol.codec import dumps
from toolyard.protocol.eras.keys import SERVER_INFO
from toolyard.protocol.kinds import LISTS
from toolyard.protocol.revisions import ALL, Revision
from toolyard.protocol.tasks.words import is_handle
from toolyard.protocol.values import Json, JsonObject

CACHEABLE = LISTS | {"resources/read", "server/discover"}
_MODERN_RESULT_FIELDS = frozenset({"resultType", "ttlMs", "cacheScope"})


def shape_result(
    method: str, result: JsonObject, revision: Revision, stamp: JsonObject
) -> JsonObject:
    """The result as a client of this revision may see it; a copy."""
    if revision.modern:
        return _modern(method, result, stamp)
    fit = _FITTERS.get(method)
    if _MODERN_RESULT_FIELDS.isdisjoint(result):
        fit_result = {**result}
    else:
        fit_result = {k: v for k, v in result.items() if k not in _MODERN_RESULT_FIELDS}
        fit = None if is_handle(result) else fit
    if "_meta" in fit_result:
        _drop_server_info(fit_result)
    if fit is not None:
        fit(fit_result, revision)
    return fit_result


class Preamble(NamedTuple):
    """How the text of a modern result begins, up to the members that it came with."""

    complete: bytes  # for one that does not say its type
    typed: bytes

    @classmethod
    def of(cls, stamp: JsonObject) -> Preamble:
        complete, typed = {"resultType": "complete", "_meta": stamp}, {"_meta": stamp}
        return cls(dumps(complete)[:-1] + b",", dumps(typed)[:-1] + b",")


def preamble_of(
    method: str, result: JsonObject, revision: Revision, preamble: Preamble
) -> bytes | None:
    """What the text of this result begins with, if its members are to stay as they are.

    The short way past `shape_result`, for nearly everything that is passed on; None: ask that one.
    """
    if "_meta" in result or not result:
        return None
    if revision.modern:
        if method in CACHEABLE:
            return None
        return preamble.typed if "resultType" in result else preamble.complete
    if method != "tools/call" or revision.date not in _TAKE_ALL_CONTENT:
        return None
    if "structuredContent" in result and not _may_see(result["structuredContent"], revision):
        return None
    unchanged = type(result.get("content")) is list and _MODERN_RESULT_FIELDS.isdisjoint(result)
    return b"{" if unchanged else None


def _modern(method: str, result: JsonObject, stamp: JsonObject) -> JsonObject:
    meta = result.get("_meta")
    fit_result = {
        "resultType": "complete",
        **result,
        "_meta": {**meta, **stamp} if isinstance(meta, dict) else stamp,
    }
    if method in CACHEABLE and fit_result["resultType"] == "complete":
        fit_result.setdefault("ttlMs", 0)
        fit_result.setdefault("cacheScope", "private")
    return fit_result


def _drop_server_info(result: JsonObject) -> None:
    meta = result.get("_meta")
    if isinstance(meta, dict) and SERVER_INFO in meta:
        other_meta = {k: v for k, v in meta.items() if k != SERVER_INFO}
        if other_meta:
            result["_meta"] = other_meta
        else:
            del result["_meta"]


def _fit_tool_result(result: JsonObject, revision: Revision) -> None:
    content = result.get("content")
    content = content if isinstance(content, list) else []
    if "structuredContent" in result and not _may_see(result["structuredContent"], revision):
        value = result.pop("structuredContent")
        if not content:
            content = [{"type": "text", "text": dumps(value).decode()}]
    if revision.date not in _TAKE_ALL_CONTENT:
        content = [_fit_content(block, revision) for block in content]
    result["content"] = content


def _may_see(value: Json, revision: Revision) -> bool:
    if revision.structured_content == "object":
        return isinstance(value, dict)
    return revision.structured_content == "any"


def _fit_prompt_result(result: JsonObject, revision: Revision) -> None:
    messages = result.get("messages")
    if isinstance(messages, list):
        result["messages"] = [_fit_message(message, revision) for message in messages]


def _fit_message(message: Json, revision: Revision) -> Json:
    if not isinstance(message, dict) or "content" not in message:
        return message
    return {**message, "content": _fit_content(message["content"], revision)}


_FITTERS: Mapping[str, Callable[[JsonObject, Revision], None]] = {
    "tools/call": _fit_tool_result,
    "tasks/result": _fit_tool_result,
    "prompts/get": _fit_prompt_result,
}


def _fit_content(block: Json, revision: Revision) -> Json:
    if not isinstance(block, dict):
        return block
    kind = block.get("type")
    substitute = _SUBSTITUTES.get(kind) if isinstance(kind, str) else None
    if substitute is not None and kind not in revision.content_kinds:
        return {"type": "text", "text": substitute(block)}
    return _fit_annotations(block, revision)


def _audio_note(block: JsonObject) -> str:
    return f"[audio, {block.get('mimeType', 'unknown type')}: this client cannot take it]"


def _link_note(block: JsonObject) -> str:
    name = block.get("title") or block.get("name") or "resource"
    return f"{name}: {block.get('uri', '')}"


# How a revision that lacks a kind of content is told about it.
_SUBSTITUTES: Mapping[str, Callable[[JsonObject], str]] = {
    "audio": _audio_note,
    "resource_link": _link_note,
}


# Revisions for which no content block would be changed.
_TAKE_ALL_CONTENT = frozenset(
    date
    for date, revision in ALL.items()
    if not revision.later_annotations and revision.content_kinds >= _SUBSTITUTES.keys()
)


def _fit_annotations(item: JsonObject, revision: Revision) -> JsonObject:
    annotations = item.get("annotations")
    if not revision.later_annotations or not isinstance(annotations, dict):
        return item
    earlier = {k: v for k, v in annotations.items() if k not in revision.later_annotations}
    return {**item, "annotations": earlier}


def shape_definition(kind: str, definition: JsonObject, revision: Revision) -> JsonObject:
    """A list item as a client of this revision may see it."""
    later = revision.later_tool_fields if kind == "tools" else revision.later_entry_fields
    result = {k: v for k, v in definition.items() if k not in later}
    if kind != "tools":
        return _fit_annotations(result, revision)
    if "outputSchema" in result and not _may_advertise(result["outputSchema"], revision):
        del result["outputSchema"]
    return result


def _may_advertise(schema: Json, revision: Revision) -> bool:
    if revision.structured_content == "any":
        return True
    return isinstance(schema, dict) and schema.get("type") == "object"


def shape_error(error: ProtocolError, revision: Revision) -> ProtocolError:
    """The error in terms of a revision that may lack its code."""
    if revision.modern and error.code == RESOURCE_NOT_FOUND:
        # There an unknown resource counts as a wrong parameter.
        return ProtocolError(INVALID_PARAMS, error.message, error.data)
    if error.code == URL_REQUIRED and not revision.tracked_urls:
        urls = [question["params"]["url"] for question in urls_of(error).values()]
        message = (
            f"{error.message} (to be opened first: {', '.join(urls)})" if urls else error.message
        )
        return ProtocolError(INTERNAL_ERROR, message)
    return error
