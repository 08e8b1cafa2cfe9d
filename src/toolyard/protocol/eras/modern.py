"""The modern era: the envelope of every request and the headers that repeat it; results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from toolyard.errors import INVALID_PARAMS, UNSUPPORTED_REVISION, ProtocolError
from toolyard.protocol.call import LOG_LEVELS, Client, Json, JsonObject
from toolyard.protocol.eras.headers import ENCODED, MCP_NAME, OF_TASKS, decode_value, mismatch
from toolyard.protocol.eras.keys import (
    CAPABILITIES,
    CLIENT_INFO,
    ENVELOPE_KEYS,
    LOG_LEVEL,
    SERVER_INFO,
    VERSION,
)
from toolyard.protocol.identity import Identity
from toolyard.protocol.jsonrpc import Message, Notification, RpcRequest
from toolyard.protocol.kinds import NAMED_BY
from toolyard.protocol.revisions import HANDSHAKE, LATEST, MODERN, Revision

# Methods that may answer `input_required`.
MAY_ASK = frozenset(NAMED_BY)
_WITH_PARAMS = (RpcRequest, Notification)


class Envelope(NamedTuple):
    """What a modern request says about its sender; not checked yet."""

    version: str
    client: Client
    level: str | None
    meta: JsonObject  # the rest of `_meta`

    @property
    def revision(self) -> Revision:
        revision = MODERN.get(self.version)
        if revision is None:
            raise unsupported(self.version)
        return revision


def is_modern(params: JsonObject) -> bool:
    meta = params.get("_meta")
    return isinstance(meta, dict) and VERSION in meta


def speaks_modern(message: Message | list[Message], headers: Mapping[str, str]) -> bool:
    """Is this of the modern era? The envelope decides, then `initialize`, then the headers."""
    if isinstance(message, _WITH_PARAMS):
        meta = message.params.get("_meta")
        if isinstance(meta, dict) and VERSION in meta:
            return True
    version = headers.get("mcp-protocol-version")
    if version is None or version in HANDSHAKE or isinstance(message, list):
        return False
    if isinstance(message, RpcRequest) and message.method == "initialize":
        return version in MODERN
    return "mcp-session-id" not in headers


def open_envelope(params: JsonObject) -> Envelope:
    """Read the envelope. Raises ProtocolError if a part is missing or has the wrong type."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        raise _missing(VERSION)
    version, capabilities = meta.get(VERSION), meta.get(CAPABILITIES)
    if not isinstance(version, str):
        raise _missing(VERSION)
    if not isinstance(capabilities, dict):
        raise _missing(CAPABILITIES)
    info, level = meta.get(CLIENT_INFO), meta.get(LOG_LEVEL)
    if level is not None and level not in LOG_LEVELS:
        raise ProtocolError(INVALID_PARAMS, f"Unknown log level in _meta: {level!r}")
    other_meta = (
        {}
        if meta.keys() <= ENVELOPE_KEYS
        else {key: value for key, value in meta.items() if key not in ENVELOPE_KEYS}
    )
    client = Client(info if isinstance(info, dict) else {}, capabilities)
    return Envelope(version, client, level, other_meta)


def check_routing(
    headers: Mapping[str, str], method: str, params: JsonObject, version: str
) -> None:
    """Headers and body must say the same: version, method and name.

    Clients in the field leave the name of a task out; only intermediaries would need it.
    """
    name = params.get(MCP_NAME[method]) if method in MCP_NAME else None
    if headers.get("mcp-protocol-version") != version or version.startswith(ENCODED):
        _must_mean(headers, "mcp-protocol-version", version)
    if headers.get("mcp-method") != method or method.startswith(ENCODED):
        _must_mean(headers, "mcp-method", method)
    if isinstance(name, str) and (headers.get("mcp-name") != name or name.startswith(ENCODED)):
        if method in OF_TASKS and "mcp-name" not in headers:
            return
        _must_mean(headers, "mcp-name", name)


def _must_mean(headers: Mapping[str, str], name: str, expected: str) -> None:
    """Compare them again, decoded: literally they differ."""
    value = headers.get(name)
    if value is None:
        raise mismatch(f"the {name} header is missing")
    if decode_value(value) != expected:
        raise mismatch(f"{name} header value {value!r} does not match body value {expected!r}")


def discover(identity: Identity, revision: Revision, client: Client) -> JsonObject:
    """The answer to `server/discover`."""
    result: JsonObject = {
        "supportedVersions": sorted(MODERN, reverse=True),
        "capabilities": identity.capabilities_for(revision, client.capabilities),
        "ttlMs": 0,
        "cacheScope": "private",
    }
    if identity.instructions:
        result["instructions"] = identity.instructions
    return result


def unsupported(version: Json) -> ProtocolError:
    data = {"supported": sorted(MODERN, reverse=True), "requested": version}
    return ProtocolError(UNSUPPORTED_REVISION, "Unsupported protocol version", data)


def _missing(key: str) -> ProtocolError:
    return ProtocolError(
        INVALID_PARAMS, f'Invalid params: _meta["{key}"] is missing or has the wrong type'
    )


def stamp(identity: Identity) -> JsonObject:
    """What every modern result says about the server, in its `_meta`."""
    return {SERVER_INFO: identity.info_for(LATEST)}
