"""One result, shaped for the revision that asked: the only place that drops or adds fields.

Drops only what a later revision defines; vendor and unknown fields stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from toolyard.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    RESOURCE_NOT_FOUND,
    URL_REQUIRED,
    ProtocolError,
)
from toolyard.protocol.asking.questions import urls_of
from toolyard.protocol.codec import dumps
from toolyard.protocol.keys import SERVER_INFO
from toolyard.protocol.kinds import LISTS
from toolyard.protocol.revisions import ALL, Revision
from toolyard.protocol.values import Json, JsonObject

CACHEABLE = LISTS | {"resources/read", "server/discover"}
_MODERN_RESULT_FIELDS = frozenset({"resultType", "ttlMs", "cacheScope"})


def shape_result(
    method: str, result: JsonObject, revision: Revision, stamp: JsonObject
) -> JsonObject:
    """The result as a client of this revision may see it. The given one is not changed."""
    if revision.modern:
        return _modern(method, result, stamp)
    if _MODERN_RESULT_FIELDS.isdisjoint(result):
        shaped = {**result}
    else:
        shaped = {k: v for k, v in result.items() if k not in _MODERN_RESULT_FIELDS}
    if "_meta" in shaped:
        _drop_server_info(shaped)
    fit = _FITTERS.get(method)
    if fit is not None:
        fit(shaped, revision)
    return shaped


def _modern(method: str, result: JsonObject, stamp: JsonObject) -> JsonObject:
    meta = result.get("_meta")
    shaped = {
        "resultType": "complete",
        **result,
        "_meta": {**meta, **stamp} if isinstance(meta, dict) else stamp,
    }
    if method in CACHEABLE and shaped["resultType"] == "complete":
        shaped.setdefault("ttlMs", 0)
        shaped.setdefault("cacheScope", "private")
    return shaped


def _drop_server_info(shaped: JsonObject) -> None:
    meta = shaped.get("_meta")
    if isinstance(meta, dict) and SERVER_INFO in meta:
        rest = {k: v for k, v in meta.items() if k != SERVER_INFO}
        if rest:
            shaped["_meta"] = rest
        else:
            del shaped["_meta"]


def _fit_tool_result(shaped: JsonObject, revision: Revision) -> None:
    content = shaped.get("content")
    content = content if isinstance(content, list) else []
    if "structuredContent" in shaped and not _may_see(shaped["structuredContent"], revision):
        structured = shaped.pop("structuredContent")
        if not content:
            content = [{"type": "text", "text": dumps(structured).decode()}]
    if revision.date not in _TAKE_ALL_CONTENT:
        content = [_fit_content(block, revision) for block in content]
    shaped["content"] = content


def _may_see(structured: Json, revision: Revision) -> bool:
    if revision.structured == "object":
        return isinstance(structured, dict)
    return revision.structured == "any"


def _fit_prompt_result(shaped: JsonObject, revision: Revision) -> None:
    messages = shaped.get("messages")
    if isinstance(messages, list):
        shaped["messages"] = [_fit_message(message, revision) for message in messages]


def _fit_message(message: Json, revision: Revision) -> Json:
    if not isinstance(message, dict) or "content" not in message:
        return message
    return {**message, "content": _fit_content(message["content"], revision)}


_FITTERS: Mapping[str, Callable[[JsonObject, Revision], None]] = {
    "tools/call": _fit_tool_result,
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


# How content kinds that a revision does not have are told in its words.
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
    kept = {k: v for k, v in annotations.items() if k not in revision.later_annotations}
    return {**item, "annotations": kept}


def shape_definition(kind: str, definition: JsonObject, revision: Revision) -> JsonObject:
    """A list item as a client of this revision may see it."""
    later = revision.later_tool_fields if kind == "tools" else revision.later_entry_fields
    shaped = {k: v for k, v in definition.items() if k not in later}
    if kind != "tools":
        return _fit_annotations(shaped, revision)
    if "outputSchema" in shaped and not _may_advertise(shaped["outputSchema"], revision):
        del shaped["outputSchema"]
    return shaped


def _may_advertise(schema: Json, revision: Revision) -> bool:
    if revision.structured == "any":
        return True
    return isinstance(schema, dict) and schema.get("type") == "object"


def shape_error(error: ProtocolError, revision: Revision) -> ProtocolError:
    """Codes that a revision lacks, in its words."""
    if revision.modern and error.code == RESOURCE_NOT_FOUND:
        # An unknown resource is a matter of its parameters.
        return ProtocolError(INVALID_PARAMS, error.message, error.data)
    if error.code == URL_REQUIRED and not revision.tracked_urls:
        urls = [one["params"]["url"] for one in urls_of(error).values()]
        told = f"{error.message} (to be opened first: {', '.join(urls)})" if urls else error.message
        return ProtocolError(INTERNAL_ERROR, told)
    return error
