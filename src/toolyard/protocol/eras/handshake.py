"""The handshake era: `initialize`, and the rules of a session. No I/O, no clock."""

# Annotations are no text here: a NamedTuple compiles such text, and every start waits for it.
from typing import NamedTuple

from toolyard.errors import INVALID_PARAMS, NOT_INITIALIZED, ProtocolError
from toolyard.protocol.client import Client, key_of
from toolyard.protocol.eras.manner import PLAIN, Manner
from toolyard.protocol.identity import Identity
from toolyard.protocol.revisions import Revision, negotiate
from toolyard.protocol.values import LOG_LEVELS, Json, JsonObject

# What a client may send before it has said `notifications/initialized`.
BEFORE_INITIALIZED = frozenset({"initialize", "ping", "shutdown", "exit"})


class Greeting(NamedTuple):
    """What `initialize` settled, and its answer."""

    revision: Revision
    client: Client
    result: JsonObject


class Answered(NamedTuple):
    """What was answered before there was a session, so that the client did not wait."""

    remainder: bytes = b""  # what was read after that
    revision: Revision | None = None
    client: Client | None = None
    # The client has said `notifications/initialized`.
    ready: bool = False


def greet(identity: Identity, params: JsonObject, manner: Manner = PLAIN) -> Greeting:
    """Answer `initialize`."""
    version = params.get("protocolVersion")
    unknown = not isinstance(version, str) or version not in manner.revisions
    if manner.strict_revisions and version is not None and unknown:
        versions = ",".join(sorted(manner.revisions, reverse=True))
        raise ProtocolError(
            INVALID_PARAMS, f"Unsupported protocol version: {version}. Supported: {versions}"
        )
    revision = negotiate(version, manner.revisions)
    can_do = _object(params.get("capabilities"))
    client = Client(_object(params.get("clientInfo")), can_do, key_of(can_do))
    result: JsonObject = {
        "protocolVersion": revision.date,
        "capabilities": identity.capabilities_for(revision, client.capabilities),
        "serverInfo": identity.info_for(revision),
    }
    if identity.instructions and revision.instructions:
        result["instructions"] = identity.instructions
    return Greeting(revision, client, result)


def gate(method: str, *, initialized: bool) -> None:
    """Refuse methods that may not come before the client is ready."""
    if not initialized and method not in BEFORE_INITIALIZED:
        raise ProtocolError(NOT_INITIALIZED, "Server not initialized")


def log_level(params: JsonObject, manner: Manner = PLAIN) -> str:
    """The level that `logging/setLevel` asks for."""
    level = params.get("level")
    if manner.any_case_levels and isinstance(level, str):
        level = level.lower()
    if level not in LOG_LEVELS:
        raise ProtocolError(INVALID_PARAMS, "Invalid log level", {"allowed": list(LOG_LEVELS)})
    return str(level)


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
