"""Arguments under other names: in a schema, and in the arguments of a call. Knows no tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.schema import followed
from toolyard.virtual.subschemas import IN_PLACE, IN_PLACE_LISTS, IN_PLACE_MAPS

_DEEPEST = 16


@dataclass(frozen=True, slots=True)
class Argument:
    """What callers are shown in place of an argument of the source."""

    source_name: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Renaming:
    """What one entry calls the arguments of its source; others keep their names."""

    arguments: Mapping[str, Argument]  # by the name that callers use

    @property
    def source_names(self) -> dict[str, str]:
        """From the name that callers use."""
        return {name: argument.source_name for name, argument in self.arguments.items()}

    @property
    def own_names(self) -> dict[str, str]:
        """From the name that the source uses."""
        return {argument.source_name: name for name, argument in self.arguments.items()}

    def translate(self, arguments: JsonObject) -> JsonObject:
        """What the source is sent."""
        names = self.source_names
        return {names.get(name, name): value for name, value in arguments.items()}

    def withheld(self, hidden: Iterable[str]) -> frozenset[str]:
        """What callers may not send: what the source hides, and the names that were replaced."""
        own, source = self.own_names, self.source_names
        names = {own.get(name, name) for name in hidden if name in own or name not in source}
        return frozenset(names) | (own.keys() - source.keys())

    def schema(self, schema: JsonObject) -> JsonObject:
        """The schema of the source in the words of the entry."""
        return self._renamed(schema, schema, 0)

    def _renamed(self, schema: JsonObject, root: JsonObject, depth: int) -> JsonObject:
        schema = followed(schema, root)
        if depth > _DEEPEST:
            return schema
        result = {key: self._part(key, value) for key, value in schema.items()}

        def below(part: Json) -> Json:
            return self._renamed(part, root, depth + 1) if isinstance(part, dict) else part

        for key in IN_PLACE_LISTS:
            if isinstance(result.get(key), list):
                result[key] = [below(part) for part in result[key]]
        for key in IN_PLACE:
            if key in result:
                result[key] = below(result[key])
        for key in IN_PLACE_MAPS:
            if isinstance(result.get(key), dict):
                result[key] = {name: below(part) for name, part in result[key].items()}
        return result

    def _part(self, key: str, value: Json) -> Json:
        if key == "required":
            return self._names(value)
        if not isinstance(value, dict):
            return value
        if key == "properties":
            return {self._own(name): self._described(name, part) for name, part in value.items()}
        if key in ("dependentRequired", *IN_PLACE_MAPS):
            return {self._own(name): self._names(part) for name, part in value.items()}
        return value

    def _own(self, name: str) -> str:
        return self.own_names.get(name, name)

    def _names(self, value: Json) -> Json:
        """A list of names, renamed; a schema that stands in its place is left to others."""
        if not isinstance(value, list):
            return value
        return [self._own(name) if isinstance(name, str) else name for name in value]

    def _described(self, name: str, part: Json) -> Json:
        argument = self.arguments.get(self._own(name))
        if argument is None or argument.source_name != name or argument.description is None:
            return part
        keywords = part if isinstance(part, dict) else {}
        return {**keywords, "description": argument.description}


NO_RENAMING = Renaming({})
