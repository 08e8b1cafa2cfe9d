"""What each hop adds to a message and takes off again. Pure."""

from __future__ import annotations

from toolyard import __version__
from toolyard.errors import INTERNAL_ERROR, ProtocolError
from toolyard.protocol.asking.rounds import RESULT_TYPES, ROUND_PARAMS
from toolyard.protocol.call import Call, Json, JsonObject
from toolyard.protocol.client import TASKS_EXTENSION, forwarded, told_in
from toolyard.protocol.eras.keys import CAPABILITIES, CLIENT_INFO, ENVELOPE_KEYS, LOG_LEVEL, VERSION
from toolyard.protocol.revisions import LATEST, Revision
from toolyard.protocol.tasks.words import RELATED, is_handle
from toolyard.protocol.verbatim import Verbatim
from toolyard.upstreams.link.link import Lost

OUR_INFO: JsonObject = {"name": "toolyard", "version": __version__}
_OURS = ENVELOPE_KEYS | {"progressToken"}
_THEIRS = frozenset({"progressToken", RELATED})


def seal(
    params: JsonObject, revision: Revision, call: Call | None, *, tasks: bool = False
) -> JsonObject:
    """The params as they go out: the client's own `_meta`, and this hop's envelope."""
    if not revision.modern and not ROUND_PARAMS.isdisjoint(params):
        params = {key: value for key, value in params.items() if key not in ROUND_PARAMS}
    meta: JsonObject = {}
    if call is not None and call.meta:
        meta = {k: v for k, v in call.meta.items() if k not in _OURS}
    if revision.modern:
        meta.update(envelope(revision.date, call, tasks=tasks))
    return {**params, "_meta": meta} if meta else params


def envelope(version: str, call: Call | None = None, *, tasks: bool = False) -> JsonObject:
    """What a modern request must say: we are asking, with what our own client can answer."""
    fields: JsonObject = {
        VERSION: version,
        CLIENT_INFO: OUR_INFO,
        CAPABILITIES: _declared(call, tasks) if call else {},
    }
    if call is not None and call.log_level is not None:
        fields[LOG_LEVEL] = call.log_level
    return fields


def _declared(call: Call, tasks: bool) -> JsonObject:
    """Tasks end with us: they are declared where we look after them ourselves."""
    capabilities = forwarded(call.client.capabilities)
    if not call.revision.modern and capabilities:
        capabilities = told_in(LATEST, capabilities)
    if not tasks:
        return capabilities
    extensions = {**(capabilities.get("extensions") or {}), TASKS_EXTENSION: {}}
    return {**capabilities, "extensions": extensions}


def result_of(message: JsonObject, *, tasks: bool = False) -> JsonObject:
    """The result of a response; the upstream's error is raised."""
    error, result = message.get("error"), message.get("result")
    if error is not None:
        raise protocol_error(error)
    if not isinstance(result, dict):
        raise Lost("answered with something that is not a result")
    if "resultType" in result and not (
        result["resultType"] in RESULT_TYPES or (tasks and is_handle(result))
    ):
        raise Lost(f"answered with an unknown kind of result, {result['resultType']!r}")
    return result


def unstamped(result: JsonObject) -> JsonObject:
    """Without what the upstream told us about itself."""
    meta = result.get("_meta")
    if not isinstance(meta, dict) or ENVELOPE_KEYS.isdisjoint(meta):
        return result
    if not meta.keys() <= ENVELOPE_KEYS:
        return {**result, "_meta": {k: v for k, v in meta.items() if k not in ENVELOPE_KEYS}}
    if isinstance(result, Verbatim):
        return result.without("_meta")
    return {k: v for k, v in result.items() if k != "_meta"}


def protocol_error(error: Json) -> ProtocolError:
    if not isinstance(error, dict):
        return ProtocolError(INTERNAL_ERROR, str(error))
    code = error.get("code")
    message = error.get("message")
    return ProtocolError(
        code if isinstance(code, int) else INTERNAL_ERROR,
        message if isinstance(message, str) else "",
        error.get("data"),
    )


def error_object(error: ProtocolError) -> JsonObject:
    body: JsonObject = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return body


def without_token(params: JsonObject) -> JsonObject:
    """A question's own progress token, and its task, mean nothing to our client."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or _THEIRS.isdisjoint(meta):
        return params
    other_meta = {key: value for key, value in meta.items() if key not in _THEIRS}
    other_params = {key: value for key, value in params.items() if key != "_meta"}
    return {**other_params, "_meta": other_meta} if other_meta else other_params


def related_in(params: JsonObject) -> JsonObject:
    """What the answer to a question must carry, if the question belongs to a task."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or RELATED not in meta:
        return {}
    return {"_meta": {RELATED: meta[RELATED]}}


def whole(value: Json) -> int:
    """An id of ours, if it can be one; else that of no request."""
    return value if isinstance(value, int) else -1
