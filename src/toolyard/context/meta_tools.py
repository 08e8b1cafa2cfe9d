"""The tools that stand for all others: one to find them, three to call them. Pure.

Their definitions are constants: whatever the catalog holds, a client that caches its prompt keeps
it. Three tools call, by what the called one may do, because clients ask people for permission by
the annotations of the tool that they see.
"""

from __future__ import annotations

from typing import Literal

from toolyard.catalog.entries import Tool
from toolyard.protocol.call import JsonObject

CallTool = Literal["call_read_tool", "call_write_tool", "call_destructive_tool"]
READ: CallTool = "call_read_tool"
WRITE: CallTool = "call_write_tool"
DESTRUCTIVE: CallTool = "call_destructive_tool"
FIND = "find_tools"
DEFAULT_LIMIT, MOST_TOOLS = 5, 20

_FIND_DESCRIPTION = (
    "Many more tools are available than are listed here. Search them before you conclude that "
    "something cannot be done: say in a few words what a tool should do. Each match comes with its "
    "inputSchema and with `call_with`, the tool to call it with. `unmatched` names the words of "
    "the query that occur in no tool: do not repeat a search for those."
)

FIND_TOOLS: JsonObject = {
    "name": FIND,
    "title": "Find tools",
    "description": _FIND_DESCRIPTION,
    "inputSchema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What the tool should do, in a few words."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_TOOLS,
                "default": DEFAULT_LIMIT,
            },
            "server": {"type": "string", "description": "Only tools of this server."},
            "names": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": MOST_TOOLS,
                "description": "Just these tools, by their exact names, in full.",
            },
        },
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}


def _call_tool(name: CallTool, title: str, about: str, annotations: JsonObject) -> JsonObject:
    return {
        "name": name,
        "title": title,
        "description": f"Call a tool that {FIND} has found, {about} (`call_with` says which).",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Its name."},
                "arguments": {"type": "object", "description": "As its inputSchema says."},
            },
            "required": ["name"],
        },
        "annotations": annotations,
    }


META_TOOLS: tuple[JsonObject, ...] = (
    FIND_TOOLS,
    _call_tool(READ, "Call a tool that reads", "if it only reads", {"readOnlyHint": True}),
    _call_tool(
        WRITE,
        "Call a tool that writes",
        "if it adds or changes without destroying",
        {"readOnlyHint": False, "destructiveHint": False},
    ),
    _call_tool(
        DESTRUCTIVE,
        "Call a tool that may destroy",
        "if it may delete or overwrite, or does not say",
        {"readOnlyHint": False, "destructiveHint": True},
    ),
)
CALL_TOOLS = frozenset({READ, WRITE, DESTRUCTIVE})
META_NAMES = frozenset({FIND, *CALL_TOOLS})


def call_with(tool: Tool) -> CallTool:
    """The tool that calls this one."""
    annotations = tool.definition.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    if hints.get("readOnlyHint") is True:
        return READ
    return WRITE if hints.get("destructiveHint") is False else DESTRUCTIVE


def is_for_models(tool: Tool) -> bool:
    """Is it found and named? Not what is disabled, nor what only an app's page calls."""
    return tool.listed and may_be_found(tool)


def may_be_found(tool: Tool) -> bool:
    """May a model call it? Not what only an app's page calls."""
    meta = tool.definition.get("_meta")
    ui = meta.get("ui") if isinstance(meta, dict) else None
    visibility = ui.get("visibility") if isinstance(ui, dict) else None
    return not (isinstance(visibility, list) and visibility and "model" not in visibility)
