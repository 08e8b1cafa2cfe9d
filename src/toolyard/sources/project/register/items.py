"""Items registered by hand, brought into the form that discovery gives its own."""

from __future__ import annotations

import os
from collections.abc import Callable

from toolyard.files.beneath import is_below
from toolyard.protocol.kinds import SPELLED
from toolyard.protocol.values import JsonObject
from toolyard.sources.project.discover.files import is_program, type_by_name
from toolyard.sources.project.discover.metadata import MetadataError, checked, normalised, schema_of
from toolyard.sources.project.discover.prompts import arguments_of, role_of
from toolyard.sources.project.discover.resources import provider_of, template_item, uri_of
from toolyard.sources.project.discover.walk import File
from toolyard.sources.project.items import unique
from toolyard.sources.project.register.file import Registration, RegistrationError


class Adopting:
    """Adopts the items of one registration."""

    def __init__(self, registration: Registration, warnings: list[str]) -> None:
        self._registration = registration
        self._warnings = warnings

    def tools(self, root: str) -> list[JsonObject] | None:
        def adopt(item: JsonObject, place: str) -> JsonObject:
            return {**item, "inputSchema": schema_of(item, place), **self._located(item, root)}

        return self._adopted("tools", "tool", adopt)

    def prompts(self, root: str) -> list[JsonObject] | None:
        def adopt(item: JsonObject, place: str) -> JsonObject:
            schema, arguments = arguments_of(item, place)
            return {
                **item,
                "inputSchema": schema,
                "arguments": arguments,
                "role": role_of(item, place, self._warnings),
                **self._located(item, root),
            }

        return self._adopted("prompts", "prompt", adopt)

    def resources(self, root: str, providers: frozenset[str]) -> list[JsonObject] | None:
        def adopt(item: JsonObject, place: str) -> JsonObject:
            uri = uri_of(item, place)
            location = self._located(item, root) if item.get("path") else {}
            resource = {
                **item,
                "mimeType": item.get("mimeType") or type_by_name(item.get("path") or uri),
                "provider": provider_of(item, uri, providers, place),
                **location,
            }
            if isinstance(item.get("inputSchema"), dict):
                resource["inputSchema"] = normalised(item["inputSchema"])
            return resource

        return self._adopted("resources", "resource", adopt)

    def templates(self, root: str) -> list[JsonObject] | None:
        def adopt(item: JsonObject, place: str) -> JsonObject:
            return template_item(item, place, root)

        return self._adopted(SPELLED["templates"].key, "template", adopt)

    def _adopted(
        self, key: str, kind: str, adopt: Callable[[JsonObject, str], JsonObject]
    ) -> list[JsonObject] | None:
        entries = self._registration.get(key)
        if entries is None:
            return None
        place = self._registration.place
        items = []
        for index, item in enumerate(entries):
            try:
                items.append(adopt(checked(item, place, self._warnings), place))
            except MetadataError as problem:
                why = str(problem).removeprefix(f"{place}: ").removesuffix("; skipped")
                raise RegistrationError(f"{place}#/{key}/{index}: {why}") from None
        return unique(items, "name", kind, self._warnings)

    def _located(self, item: JsonObject, root: str) -> JsonObject:
        """Where the file of an item really is, and whether it is there."""
        real = os.path.realpath(os.path.join(root, item["path"]))
        if not is_below(real, root) or not os.path.isfile(real):
            why = f"{item['path']!r} is not a file below {root}"
            self._warnings.append(f"{self._registration.place}: {item['name']}: {why}")
            return {"unavailable": why}
        file = File(os.path.basename(real), real, 0, os.access(real, os.X_OK))
        location: JsonObject = {"path": real[len(root) + 1 :]}
        if is_program(file):
            location["executable"] = True
        return location
