"""The five MCP revisions, as one table. The only place that tells them apart."""

# Annotations are no text here: a NamedTuple compiles such text, and every start waits for it.
from collections.abc import Mapping
from typing import Literal, NamedTuple

from toolyard.protocol.kinds import LISTS, USES

StructuredContent = Literal["none", "object", "any"]

# What a server is for, in every revision; other methods open, keep and end the conversation.
SERVER_METHODS = frozenset({*LISTS, *USES, "completion/complete"})
_EXTENSION_TASKS = {"tasks/get", "tasks/update", "tasks/cancel"}
_CORE_TASKS = {"tasks/get", "tasks/result", "tasks/list", "tasks/cancel"}
_SESSION_METHODS = {
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    # Not part of MCP: the orderly end that clients of mcp-bash use, on stdio only.
    "shutdown",
    "exit",
}


ELICITATION_COMPLETE = "notifications/elicitation/complete"


class Revision(NamedTuple):
    """What one dated revision of MCP has. Fields grow with the table below."""

    date: str
    modern: bool
    methods: frozenset[str]
    batches: bool
    # Fields that later revisions define for each kind of object: dropped on the way out.
    later_tool_fields: frozenset[str]
    later_entry_fields: frozenset[str]
    later_info_fields: frozenset[str]
    later_annotations: frozenset[str]
    content_kinds: frozenset[str]
    structured_content: StructuredContent
    capabilities: frozenset[str]
    # What a client may declare that it can do, with the details; None: any details.
    client_capabilities: Mapping[str, frozenset[str] | None]
    list_changed: bool
    instructions: bool
    progress_message: bool
    elicitation: frozenset[str]
    plain_forms: bool
    # URLs to be opened have ids and an error of their own, and clients are told when one is done.
    tracked_urls: bool
    # What a sampling message may hold, and whether it may hold several.
    sampling_kinds: frozenset[str]
    sampling_lists: bool
    version_header: bool
    resumable_priming: bool
    # Which form of tasks it has; see protocol/tasks.
    tasks: Literal["none", "core", "extension"]

    def __str__(self) -> str:
        return self.date

    def may_hear(self, notification: str) -> bool:
        return self.tracked_urls or notification != ELICITATION_COMPLETE


R2026_07_28 = Revision(
    date="2026-07-28",
    modern=True,
    methods=frozenset(
        SERVER_METHODS | {"server/discover", "subscriptions/listen"} | _EXTENSION_TASKS
    ),
    batches=False,
    later_tool_fields=frozenset({"execution"}),
    later_entry_fields=frozenset(),
    later_info_fields=frozenset(),
    later_annotations=frozenset(),
    content_kinds=frozenset({"text", "image", "resource", "audio", "resource_link"}),
    structured_content="any",
    capabilities=frozenset(
        {"tools", "prompts", "resources", "logging", "completions", "extensions", "experimental"}
    ),
    client_capabilities={
        "elicitation": frozenset({"form", "url"}),
        "sampling": frozenset({"tools", "context"}),
        "roots": frozenset(),
        "extensions": None,
        "experimental": None,
    },
    list_changed=True,
    instructions=True,
    progress_message=True,
    elicitation=frozenset({"form", "url"}),
    plain_forms=False,
    tracked_urls=False,
    sampling_kinds=frozenset({"text", "image", "audio", "tool_use", "tool_result"}),
    sampling_lists=True,
    version_header=True,
    resumable_priming=False,
    tasks="extension",
)
R2025_11_25 = R2026_07_28._replace(
    date="2025-11-25",
    modern=False,
    methods=frozenset(SERVER_METHODS | _SESSION_METHODS | _CORE_TASKS),
    later_tool_fields=frozenset(),
    structured_content="object",
    capabilities=(R2026_07_28.capabilities - {"extensions"}) | {"tasks"},
    tracked_urls=True,
    # Extensions are not in its schema, nor in older ones; but none of them is a closed set.
    client_capabilities={
        **R2026_07_28.client_capabilities,
        "roots": frozenset({"listChanged"}),
    },
    resumable_priming=True,
    tasks="core",
)
R2025_06_18 = R2025_11_25._replace(
    date="2025-06-18",
    methods=frozenset(SERVER_METHODS | _SESSION_METHODS),
    tasks="none",
    later_tool_fields=frozenset({"icons", "execution"}),
    later_entry_fields=frozenset({"icons"}),
    later_info_fields=frozenset({"description", "icons", "websiteUrl"}),
    capabilities=R2025_11_25.capabilities - {"tasks"},
    client_capabilities={
        "elicitation": frozenset(),
        "sampling": frozenset(),
        "roots": frozenset({"listChanged"}),
        "extensions": None,
        "experimental": None,
    },
    elicitation=frozenset({"form"}),
    plain_forms=True,
    tracked_urls=False,
    sampling_kinds=frozenset({"text", "image", "audio"}),
    sampling_lists=False,
    resumable_priming=False,
)
R2025_03_26 = R2025_06_18._replace(
    date="2025-03-26",
    batches=True,
    later_tool_fields=R2025_06_18.later_tool_fields | {"title", "outputSchema", "_meta"},
    later_entry_fields=R2025_06_18.later_entry_fields | {"title", "_meta"},
    later_info_fields=R2025_06_18.later_info_fields | {"title"},
    later_annotations=frozenset({"lastModified"}),
    content_kinds=frozenset({"text", "image", "resource", "audio"}),
    structured_content="none",
    client_capabilities={
        "sampling": frozenset(),
        "roots": frozenset({"listChanged"}),
        "extensions": None,
        "experimental": None,
    },
    elicitation=frozenset(),
    version_header=False,
)
R2024_11_05 = R2025_03_26._replace(
    date="2024-11-05",
    batches=False,
    later_tool_fields=R2025_03_26.later_tool_fields | {"annotations"},
    content_kinds=frozenset({"text", "image", "resource"}),
    sampling_kinds=frozenset({"text", "image"}),
    capabilities=R2025_03_26.capabilities - {"completions"},
    instructions=True,
    progress_message=False,
)

ALL = {
    revision.date: revision
    for revision in (R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28)
}
HANDSHAKE = {date: revision for date, revision in ALL.items() if not revision.modern}
MODERN = {date: revision for date, revision in ALL.items() if revision.modern}
LATEST_HANDSHAKE = R2025_11_25
LATEST = R2026_07_28


# The handshake revisions as the command `mcp-bash` speaks them: its oldest clients are not told
# of changed lists, and get structured content although their revision does not have it. It has
# no tasks.
LIKE_MCP_BASH = {
    **HANDSHAKE,
    R2025_11_25.date: R2025_11_25._replace(
        methods=R2025_06_18.methods,
        capabilities=R2025_11_25.capabilities - {"tasks"},
        tasks="none",
    ),
    R2025_03_26.date: R2025_03_26._replace(
        structured_content="object",
        capabilities=R2025_03_26.capabilities - {"completions"},
        list_changed=False,
    ),
    R2024_11_05.date: R2024_11_05._replace(
        structured_content="object", list_changed=False, instructions=False
    ),
}


def older(a: Revision, b: Revision) -> Revision:
    return min(a, b, key=lambda revision: revision.date)


def negotiate(version: object, revisions: Mapping[str, Revision] = HANDSHAKE) -> Revision:
    """The revision that `initialize` answers with: the one asked for, or our latest."""
    date = version if isinstance(version, str) else LATEST_HANDSHAKE.date
    return revisions.get(date, revisions[LATEST_HANDSHAKE.date])
