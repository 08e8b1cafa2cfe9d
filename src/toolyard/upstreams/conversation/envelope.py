"""What each hop adds to a message and takes off again. Pure."""

from __future__ import annotations

from toolyard import __version__
from toolyard.errors import INTERNAL_ERROR, ProtocolError
from toolyard.protocol.asking.rounds import RESULT_TYPES, ROUND_PARAMS
from toolyard.protocol.call import Call, Json, JsonObject
from toolyard.protocol.client import forwarded, told_in
from toolyard.protocol.eras.keys import CAPABILITIES, CLIENT_INFO, ENVELOPE_KEYS, LOG_LEVEL, VERSION
from toolyard.protocol.revisions import LATEST, Revision
from toolyard.upstreams.link.link import Lost

OUR_INFO: JsonObject = {"name": "toolyard", "version": __version__}
_OURS = ENVELOPE_KEYS | {"progressToken"}


def seal(params: JsonObject, revision: Revision, call: Call | None) -> JsonObject:
    """The params as they go out: the client's own `_meta`, and this hop's envelope."""
    if not revision.modern and not ROUND_PARAMS.isdisjoint(params):
        params = {key: value for key, value in params.items() if key not in ROUND_PARAMS}
    meta: JsonObject = {}
    if call is not None and call.meta:
        meta = {k: v for k, v in call.meta.items() if k not in _OURS}
    if revision.modern:
        meta.update(envelope(revision.date, call))
    return {**params, "_meta": meta} if meta else params


def envelope(version: str, call: Call | None = None) -> JsonObject:
    """What a modern request must say: we are asking, with what our own client can answer."""
    fields: JsonObject = {
        VERSION: version,
        CLIENT_INFO: OUR_INFO,
        CAPABILITIES: _declared(call) if call else {},
    }
    if call is not None and call.log_level is not None:
        fields[LOG_LEVEL] = call.log_level
    return fields


def _declared(call: Call) -> JsonObject:
    capabilities = forwarded(call.client.capabilities)
    if call.revision.modern or not capabilities:
        return capabilities
    return told_in(LATEST, capabilities)


def result_of(message: JsonObject) -> JsonObject:
    """The result of a response; the upstream's error is raised."""
    error, result = message.get("error"), message.get("result")
    if error is not None:
        raise protocol_error(error)
    if not isinstance(result, dict):
        raise Lost("answered with something that is not a result")
    if "resultType" in result and result["resultType"] not in RESULT_TYPES:
        raise Lost(f"answered with an unknown kind of result, {result['resultType']!r}")
    return result


def unstamped(result: JsonObject) -> JsonObject:
    """Without what the upstream told us about itself."""
    meta = result.get("_meta")
    if not isinstance(meta, dict) or ENVELOPE_KEYS.isdisjoint(meta):
        return result
    copy = {**result}
    if meta.keys() <= ENVELOPE_KEYS:
        del copy["_meta"]
    else:
        copy["_meta"] = {k: v for k, v in meta.items() if k not in ENVELOPE_KEYS}
    return copy


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
    """A question's own progress token means nothing to our client."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or "progressToken" not in meta:
        return params
    other_meta = {key: value for key, value in meta.items() if key != "progressToken"}
    other_params = {key: value for key, value in params.items() if key != "_meta"}
    return {**other_params, "_meta": other_meta} if other_meta else other_params
