"""Everything on offer, a line each: what the explorer shows and searches."""

from __future__ import annotations

from toolyard.catalog.entries import Prompt, Resource, Template, Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.context.owners import owner_named, owner_of, source_of
from toolyard.context.sizes import tokens_in
from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.target import VirtualTarget
from toolyard.web.encode import encoded

LONGEST = 200


class CatalogListing:
    """A catalog, measured and encoded once."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        # What is not listed costs a client nothing.
        self.tokens = {
            name: tokens_in(tool.definition) if tool.listed else 0
            for name, tool in catalog.tools.items()
        }
        self.owners = {name: owner_of(tool, catalog.tools) for name, tool in catalog.tools.items()}
        self.other_tokens = sum(
            tokens_in(entry.definition)
            for kind in (catalog.resources, catalog.templates, catalog.prompts)
            for entry in kind.values()
        )
        self.digest = catalog.digest("tools")[:16]
        self.body = encoded(self._listing())

    def _listing(self) -> JsonObject:
        catalog = self.catalog
        return {
            "digest": self.digest,
            "tools": [self._tool(tool) for tool in catalog.tools.values()],
            "resources": [_resource(entry) for entry in catalog.resources.values()],
            "templates": [_template(entry) for entry in catalog.templates.values()],
            "prompts": [_prompt(entry) for entry in catalog.prompts.values()],
            "completions": sorted(catalog.completions),
        }

    def _tool(self, tool: Tool) -> JsonObject:
        extra, definition = tool.extra, tool.definition
        return _present(
            {
                "name": tool.name,
                "title": _text(definition.get("title")),
                "description": _short(definition.get("description")),
                "owner": self.owners[tool.name],
                "origin": tool.origin.source,
                "source": source_of(tool),
                "original": _text(extra.get("originalName")),
                "version": _text(extra.get("version")),
                "pinned": bool(extra.get("pinned")),
                "hidden": hidden_arguments(tool),
                "projected": is_projected(tool),
                "tags": extra.get("tags"),
                "unavailable": tool.unavailable,
                "requires": list(tool.requires),
                "uses": extra.get("uses"),
                "tokens": self.tokens[tool.name],
            }
        )


def hidden_arguments(tool: Tool) -> list[str]:
    """What callers may not send, without the old names of what they send under another."""
    renamings = tool.target.renamings if isinstance(tool.target, VirtualTarget) else ()
    replaced: set[str] = set()
    for renaming in renamings:
        replaced.update(renaming.own_names.keys() - renaming.source_names.keys())
    return sorted(tool.hidden - replaced)


def is_projected(tool: Tool) -> bool:
    if tool.extra.get("projected"):
        return True
    return isinstance(tool.target, VirtualTarget) and tool.target.output is not None


def _resource(entry: Resource) -> JsonObject:
    return {**_common(entry), "uri": entry.uri, "mimeType": _text(entry.definition.get("mimeType"))}


def _template(entry: Template) -> JsonObject:
    return {**_common(entry), "uriTemplate": entry.uri_template}


def _prompt(entry: Prompt) -> JsonObject:
    return {**_common(entry), "arguments": _names(entry.definition.get("arguments"))}


def _common(entry: Resource | Template | Prompt) -> JsonObject:
    return _present(
        {
            "name": entry.name,
            "title": _text(entry.definition.get("title")),
            "description": _short(entry.definition.get("description")),
            "owner": owner_named(entry.origin),
            "tokens": tokens_in(entry.definition),
        }
    )


def _names(arguments: Json) -> list[str]:
    if not isinstance(arguments, list):
        return []
    return [str(argument.get("name", "")) for argument in arguments if isinstance(argument, dict)]


def _present(fields: JsonObject) -> JsonObject:
    return {key: value for key, value in fields.items() if value or key == "tokens"}


def _short(text: Json) -> str:
    paragraph = _text(text).strip().partition("\n\n")[0]
    return paragraph if len(paragraph) <= LONGEST else paragraph[: LONGEST - 1] + "…"


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
