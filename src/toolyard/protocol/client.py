"""The program on the other end: what it says it is, and what it can be asked.

Named tuples here and in the other modules that `initialize` needs: dataclasses take as long
to import as everything else on the way to the first answer.
"""

# Annotations are no text here: a NamedTuple compiles such text, and every start waits for it.
import json
from collections.abc import Mapping
from typing import NamedTuple

from toolyard.protocol.revisions import Revision
from toolyard.protocol.values import Json, JsonObject

ELICIT, SAMPLE, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
# The questions, and the capability a client needs for each.
CAPABILITY = {ELICIT: "elicitation", SAMPLE: "sampling", ROOTS: "roots"}
# With one of these a client can be asked. A connection that declares one belongs to one client.
ASKED = frozenset(CAPABILITY.values())
_ELICITATION = CAPABILITY[ELICIT]
TASKS_EXTENSION = "io.modelcontextprotocol/tasks"


class Client(NamedTuple):
    """What a program says about itself when it connects."""

    info: JsonObject
    capabilities: JsonObject
    # Equal for clients that can do the same; made once for a client that stays.
    key: str | None = None

    def supports(self, method: str, mode: str = "form") -> bool:
        """Can this client answer the question `method`?"""
        if method == ELICIT:
            return mode in elicitation_modes(self.capabilities)
        return CAPABILITY.get(method) in self.capabilities

    def modes_in(self, revision: Revision) -> frozenset[str]:
        """The ways to elicit that both the client and its revision have."""
        return elicitation_modes(self.capabilities) & revision.elicitation


def elicitation_modes(capabilities: Mapping[str, Json]) -> frozenset[str]:
    """The modes declared; a bare `elicitation: {}` means forms."""
    modes = capabilities.get(_ELICITATION)
    if not isinstance(modes, dict):
        return frozenset()
    return frozenset(modes) & {"form", "url"} or frozenset({"form"})


def forwarded(capabilities: JsonObject) -> JsonObject:
    """A client's capabilities as we may declare them: all except tasks, which end with us."""
    if not capabilities:
        return {}
    result = {k: v for k, v in capabilities.items() if k != "tasks"}
    extensions = result.get("extensions")
    if isinstance(extensions, dict) and TASKS_EXTENSION in extensions:
        result["extensions"] = {k: v for k, v in extensions.items() if k != TASKS_EXTENSION}
    return result


def without_tasks(client: Client) -> Client:
    """The same client, were it one that takes no handles of tasks."""
    capabilities = client.capabilities
    if "extensions" not in capabilities:
        return client
    return client._replace(capabilities=forwarded(capabilities))


def told_in(revision: Revision, capabilities: JsonObject) -> JsonObject:
    """What a client can do, as far as a revision can express it."""
    result: JsonObject = {}
    for name, value in capabilities.items():
        if name not in revision.client_capabilities or not isinstance(value, dict):
            continue
        details = revision.client_capabilities[name]
        if details is None:
            result[name] = value
        elif _can_be_said(name, revision, capabilities):
            result[name] = {key: value[key] for key in value if key in details}
    return result


def _can_be_said(name: str, revision: Revision, capabilities: JsonObject) -> bool:
    """A client that only opens URLs cannot fill in forms, and older revisions have only forms."""
    return name != _ELICITATION or bool(elicitation_modes(capabilities) & revision.elicitation)


def key_of(capabilities: JsonObject) -> str:
    """A key for what a client can do."""
    declaration = forwarded(capabilities)
    # Not orjson: `initialize` needs this, and importing that takes a quarter of a start.
    return json.dumps(declaration, sort_keys=True, separators=(",", ":")) if declaration else ""


UNKNOWN = Client({}, {}, "")
# A client that can be asked everything.
ABLE = Client({}, {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}})
