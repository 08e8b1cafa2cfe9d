"""What `find_tools` answers: each tool with its schema, as far as a budget of bytes allows. Pure.

A model reads all of it, text and structure, so the answer is kept small: long descriptions are cut
after a sentence, and where the whole is too long the longest schemas become outlines, which the
answer says. By `names` a tool comes whole.
"""

from __future__ import annotations

from toolyard.catalog.entries import Tool
from toolyard.context.finding import Hit, Search
from toolyard.context.meta_tools import call_with
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import dumps

BYTES, BYTES_BY_NAME = 4_000, 24_000
LONGEST_DESCRIPTION = 320


def found(search: Search) -> JsonObject:
    """The answer to a query."""
    tools = [_entry(hit, _cut(_description(hit.tool))) for hit in search.hits]
    return _answer(search, tools, BYTES)


def named(search: Search) -> JsonObject:
    """The answer to names: whole, unless that is too much for anybody to read."""
    tools = [_entry(hit, _description(hit.tool)) for hit in search.hits]
    return _answer(search, tools, BYTES_BY_NAME)


def result(answer: JsonObject) -> JsonObject:
    text = dumps(answer).decode()
    return {"content": [{"type": "text", "text": text}], "structuredContent": answer}


def _entry(hit: Hit, description: str) -> JsonObject:
    schema = hit.tool.definition.get("inputSchema")
    return {
        "name": hit.tool.name,
        "server": hit.server,
        "description": description,
        "inputSchema": schema if isinstance(schema, dict) else {"type": "object"},
        "call_with": call_with(hit.tool),
    }


def _answer(search: Search, tools: list[JsonObject], budget: int) -> JsonObject:
    answer: JsonObject = {
        "tools": tools,
        "unmatched": list(search.unmatched),
        "total": search.total,
    }
    outlined = _fit(tools, budget - len(dumps({**answer, "tools": []})))
    if outlined:
        whole = ", ".join(outlined)
        answer["note"] = f"Shortened schemas: {whole}. find_tools with `names` gives them in full."
    return answer


def _fit(tools: list[JsonObject], budget: int) -> list[str]:
    """Outline the longest schemas until it fits, in place; the names of those tools."""
    sizes = [len(dumps(tool)) for tool in tools]
    outlined: list[str] = []
    by_size = sorted(range(len(tools)), key=lambda number: -sizes[number])
    for step in (_outlined, _bare):
        for number in by_size:
            if sum(sizes) <= budget:
                return outlined
            shorter = step(tools[number])
            if len(dumps(shorter)) >= sizes[number]:
                continue
            tools[number], sizes[number] = shorter, len(dumps(shorter))
            if shorter["name"] not in outlined:
                outlined.append(shorter["name"])
    return outlined


def _outlined(tool: JsonObject) -> JsonObject:
    """Names and types of the arguments, and which are required."""
    schema = tool["inputSchema"]
    properties = schema.get("properties")
    outline = {
        name: {"type": part["type"]} if isinstance(part, dict) and "type" in part else {}
        for name, part in (properties if isinstance(properties, dict) else {}).items()
    }
    required = {"required": schema["required"]} if "required" in schema else {}
    return {**tool, "inputSchema": {"type": "object", "properties": outline, **required}}


def _bare(tool: JsonObject) -> JsonObject:
    """Its name and a line: hundreds of arguments are no help before it is chosen."""
    rest = {key: value for key, value in tool.items() if key != "inputSchema"}
    return {**rest, "description": tool["description"][:80]}


def _description(tool: Tool) -> str:
    value: Json = tool.definition.get("description") or tool.definition.get("title")
    return value if isinstance(value, str) else ""


def _cut(text: str) -> str:
    """The first sentences, if the text is long."""
    text = text.strip()
    if len(text) <= LONGEST_DESCRIPTION:
        return text
    start = text[:LONGEST_DESCRIPTION]
    end = max(start.rfind(". "), start.rfind("\n"))
    return start[: end + 1].rstrip() if end > 0 else start.rsplit(" ", 1)[0] + " ..."
