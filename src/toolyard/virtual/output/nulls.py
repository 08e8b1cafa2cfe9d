"""Nulls that a schema does not allow, left out of a value where the member is optional. Pure."""

from __future__ import annotations

from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.output.views import SchemaViews

MAX_LEVELS = 64


def without_nulls(value: Json, schema: JsonObject) -> Json:
    """A copy without the optional members that are null although they may not be."""
    return _Pruning(schema).of(value, schema, 0)


class _Pruning:
    """One walk over a value, with the schemas that describe its parts."""

    def __init__(self, root: JsonObject) -> None:
        self._views = SchemaViews(root)

    def of(self, value: Json, schema: Json, level: int) -> Json:
        if not isinstance(value, (dict, list)) or level > MAX_LEVELS:
            return value
        view = self._views.of(schema)
        if isinstance(value, list):
            if not view.items:
                return value
            return [self.of(element, view.items, level + 1) for element in value]
        properties = view.properties or {}
        return {
            name: self.of(member, properties.get(name), level + 1)
            for name, member in value.items()
            if member is not None
            or name in view.required
            or name not in properties
            or self._views.admits_null(properties[name])
        }
