"""An `outputSchema` with `source_field`s, compiled to a function. Knows no results and no tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from toolyard.errors import ToolError
from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.output.views import SchemaViews, View
from toolyard.virtual.query.paths import MISSING, Budget, Path, compile_path, path_of_steps
from toolyard.virtual.schema import without_source_fields

Make: TypeAlias = Callable[[Json, Budget], Json]
ROOT = compile_path("$")


@dataclass(frozen=True, slots=True)
class Projection:
    """A compiled output schema: the function that selects, and the schema that clients see."""

    apply: Callable[[Json], Json]  # raises ToolError where a required value is missing
    advertised: JsonObject  # the schema without any `source_field`


def compile_projection(schema: JsonObject) -> Projection:
    """`schema` is self-contained. Raises BadPath for a `source_field` that is not a path."""
    make = _Compiler(schema).make(schema, ROOT, "")
    public_schema: JsonObject = without_source_fields(schema)
    selects = schema.get("source_field", "$")

    def apply(value: Json) -> Json:
        output = make(value, Budget())
        if output is MISSING:
            raise ToolError(f"the result has nothing at {selects}")
        return output

    return Projection(apply, public_schema)


def deferred_projection(schema: JsonObject) -> Projection:
    """The same, compiled at its first use: for a schema whose paths have been checked.

    A registry of thousands of tools starts in half the time, and few of them are ever called.
    """
    cache: list[Callable[[Json], Json]] = []

    def apply(value: Json) -> Json:
        if not cache:
            cache.append(compile_projection(schema).apply)
        return cache[0](value)

    return Projection(apply, without_source_fields(schema))


class _Field(NamedTuple):
    name: str
    # The member to copy, where that is all there is to do: saves a call for most fields.
    member: str | None
    make: Make
    # What to say where the value is missing; None for an optional one.
    complaint: str | None


class _Compiler:
    """Turns each schema of one document into a maker of values."""

    def __init__(self, root: JsonObject) -> None:
        self._views = SchemaViews(root)
        self._makers: dict[tuple[int, str], Make] = {}
        # A maker that is still being built has a cell here, for references back to it.
        self._cells: dict[tuple[int, str], list[Make]] = {}

    def make(self, schema: Json, default: Path, place: str) -> Make:
        """The maker for one schema; a schema that leads back to itself gets one as well."""
        key = (id(schema), default.text)
        if key in self._makers:
            return self._makers[key]
        if key in self._cells:
            return _recursive(self._cells[key])
        cell = self._cells[key] = []
        make = self._makers[key] = self._new(schema, default, place)
        cell.append(make)
        return make

    def _new(self, schema: Json, default: Path, place: str) -> Make:
        view = self._views.of(schema)
        path = self._path(view, default)
        exact = not self._views.projects(schema)
        if view.items is not None and self._views.shaped(view.items):
            element = self.make(view.items, ROOT, f"{place}[]")
            objects = self._views.of(view.items).properties is not None
            return _array(path, element, exact, objects)
        if view.properties is None or (exact and view.open):
            return _value(path)
        return _object(path, self._fields(view, place), exact)

    def _fields(self, view: View, place: str) -> list[_Field]:
        return [
            self._field(view, name, schema, f"{place}.{name}" if place else name)
            for name, schema in (view.properties or {}).items()
        ]

    def _field(self, view: View, name: str, schema: Json, place: str) -> _Field:
        default = self._default_path(name, schema)
        path = self._path(self._views.of(schema), default)
        make = self.make(schema, default, place)
        member = path.member if make is path.get else None
        complaint = f'the result lacks "{place}": nothing at {path.text}'
        return _Field(name, member, make, complaint if name in view.required else None)

    def _path(self, view: View, default: Path) -> Path:
        return default if view.source_field is None else compile_path(view.source_field)

    def _default_path(self, name: str, schema: Json) -> Path:
        """The enclosing value, where something below selects from it; otherwise the member.

        A schema that leads back to itself takes the member: the enclosing value would never end.
        """
        if self._views.projects(schema) and not self._views.recurs(schema):
            return ROOT
        return path_of_steps(f"$.{name}", [name])


def _recursive(cell: list[Make]) -> Make:
    def make(value: Json, budget: Budget) -> Json:
        budget.enter()
        output = cell[0](value, budget)
        budget.leave()
        return output

    return make


def _value(path: Path) -> Make:
    """The match as it is: one value, or the array of all."""
    return path.find if path.get is None else path.get


def _object(path: Path, fields: list[_Field], exact: bool) -> Make:
    def build(value: Json, budget: Budget) -> Json:
        if value is None or (exact and not isinstance(value, dict)):
            return value  # validation will say what it should have been
        built = {}
        get = value.get if isinstance(value, dict) else _nothing
        for name, member, make, complaint in fields:
            part = make(value, budget) if member is None else get(member, MISSING)
            if part is not MISSING:
                built[name] = part
            elif complaint is not None:
                raise ToolError(complaint)
        return built

    select = path.get
    if path is ROOT:
        return build
    if select is None:
        return lambda value, budget: [build(match, budget) for match in path.find(value, budget)]

    def make(value: Json, budget: Budget) -> Json:
        match = select(value)
        return MISSING if match is MISSING else build(match, budget)

    return make


def _nothing(_: str, default: Json) -> Json:
    return default


def _array(path: Path, element: Make, exact: bool, objects: bool) -> Make:
    def project(elements: list[Json], budget: Budget) -> list[Json]:
        parts = [element(source, budget) for source in elements]
        return [part for part in parts if part is not MISSING] if MISSING in parts else parts

    get = path.get
    if get is None:

        def make_all(value: Json, budget: Budget) -> Json:
            matches = path.find(value, budget)
            if objects and not path.stars and len(matches) == 1 and isinstance(matches[0], list):
                matches = matches[0]
            return project(matches, budget)

        return make_all

    def make(value: Json, budget: Budget) -> Json:
        match = get(value)
        if match is MISSING or match is None or (exact and not isinstance(match, list)):
            return match
        elements = match if isinstance(match, list) else [match]
        budget.spend(len(elements))
        return project(elements, budget)

    return make
