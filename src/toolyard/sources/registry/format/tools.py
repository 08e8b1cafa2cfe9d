"""A `tools` entry, read into a ToolDefinition. Knows no other entry and no upstream."""

from __future__ import annotations

from typing import Any

from toolyard.configuration.check import check
from toolyard.configuration.objects import shape
from toolyard.context.cutting import limit_of
from toolyard.errors import did_you_mean
from toolyard.files.pointers import escape
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.format.model import ToolDefinition
from toolyard.sources.registry.format.report import Report
from toolyard.sources.registry.format.servers import Surroundings
from toolyard.sources.registry.format.variables import Variables
from toolyard.virtual.composing.composition import parse_composition
from toolyard.virtual.output.listings import TextExtraction, check_pattern, compile_text_extraction
from toolyard.virtual.output.mappings import compile_mappings
from toolyard.virtual.output.projection import Projection, deferred_projection
from toolyard.virtual.query.paths import BadPath, compile_path
from toolyard.virtual.renaming import Argument, Renaming
from toolyard.virtual.schema import (
    BadReference,
    References,
    is_ours,
    refs_in,
    without_source_fields,
)
from toolyard.virtual.subschemas import walk


def read_tool(
    raw: Json, pointer: str, references: References, around: Surroundings
) -> ToolDefinition | None:
    """None where it has no name to refer to it by; every problem is in the report."""
    report = around.report
    entry = check(raw, shape("registry", "/$defs/tool"), report, pointer)
    if entry is None:
        return None
    _check_owner(entry, pointer, report)
    _check_versions(entry, pointer, report)
    if "name" not in entry:
        return None
    schemas = SchemaReader(references, report)
    defaults, why_disabled = _defaults(entry.get("defaults", {}), f"{pointer}/defaults", around)
    return ToolDefinition(
        name=entry["name"],
        pointer=report.place(pointer),
        input_schema=schemas.read(entry.get("inputSchema"), f"{pointer}/inputSchema"),
        projection=_projection(entry, pointer, schemas),
        text_extraction=_text_extraction(entry, f"{pointer}/textExtraction", report),
        composition=_composition(entry, f"{pointer}/spec", report),
        defaults=defaults,
        renaming=_renaming(entry, f"{pointer}/arguments", report),
        disabled=why_disabled,
        result_limit=read_limit(entry, pointer, report),
        **_plain(entry),
    )


def _plain(entry: JsonObject) -> dict[str, Any]:
    """The fields that are kept as they are."""
    return {
        "server": entry.get("server"),
        "source": entry.get("source"),
        "original_name": entry.get("originalName"),
        "title": entry.get("title"),
        "description": entry.get("description"),
        "annotations": entry.get("annotations"),
        "version": entry.get("version"),
        "source_version_pin": entry.get("sourceVersionPin"),
        "expected_schema_hash": _text_or_none(entry.get("expectedSchemaHash")),
        "validation_mode": entry.get("validationMode", "warn"),
        "hide_fields": tuple(entry.get("hideFields", ())),
        "hidden": entry.get("hidden", False),
        "timeout": entry.get("timeoutSecs"),
        "task_support": entry.get("taskSupport"),
        "tags": tuple(entry.get("tags", ())),
        "pinned": entry.get("pinned", False),
        "keywords": tuple(entry.get("keywords", ())),
    }


def _text_or_none(value: Json) -> str | None:
    """A hash that is not a string can never match."""
    return None if value is None else str(value)


def _check_owner(entry: JsonObject, pointer: str, report: Report) -> None:
    owners = [key for key in ("server", "source", "spec") if key in entry]
    if len(owners) > 1:
        report.problem(pointer, f"has {' and '.join(owners)}; a tool has one of them")
    elif not owners:
        report.problem(pointer, "needs a server (a server's name) or a source (a tool's name)")


def _check_versions(entry: JsonObject, pointer: str, report: Report) -> None:
    if "sourceVersionPin" in entry and "source" not in entry:
        report.problem(f"{pointer}/sourceVersionPin", "only a tool with a source can pin it")


def _defaults(defaults: JsonObject, pointer: str, around: Surroundings) -> tuple[Any, str | None]:
    """The values with variables filled in; and why the tool cannot be used, where one is unset."""
    values, unset = {}, []
    for name, value in defaults.items():
        variables = Variables(around.environ, escapes=True)
        values[name] = variables.fill(value)
        around.secrets |= variables.secrets
        place = around.report.place(f"{pointer}/{escape(name)}")
        unset += [_unset(missing, place) for missing in variables.missing]
    if unset:
        around.report.warn(pointer, f"this tool is disabled: {'; '.join(unset)}")
    return values, "; ".join(unset) or None


def _unset(variable: str, place: str) -> str:
    message = f"variable {variable} is not set ({place})"
    if variable != variable.lower():
        return message
    template = "it looks like a template to be filled from the arguments, which a default is not"
    return f"{message}; {template}: write $${{{variable}}} for the text itself"


def read_limit(entry: JsonObject, pointer: str, report: Report) -> int | None:
    """In bytes."""
    try:
        return limit_of(entry.get("resultLimit"))
    except ValueError as error:
        report.problem(f"{pointer}/resultLimit", str(error))
        return None


def _renaming(entry: JsonObject, pointer: str, report: Report) -> Renaming:
    arguments: dict[str, Argument] = {}
    names: dict[str, str] = {}
    unseen = {*entry.get("defaults", {}), *entry.get("hideFields", ())}
    for name, fields in entry.get("arguments", {}).items():
        source_name = fields.get("from", name)
        at = f"{pointer}/{escape(name)}/from"
        if source_name in unseen:
            report.problem(at, f'"{source_name}" is hidden: a hidden field has no other name')
        elif source_name in names:
            report.problem(at, f'"{source_name}" is called "{names[source_name]}" already')
        names.setdefault(source_name, name)
        arguments[name] = Argument(source_name, fields.get("description"))
    return Renaming(arguments)


class SchemaReader:
    """Reads the schemas of one file: references resolved, each bad one reported."""

    def __init__(self, references: References, report: Report) -> None:
        self._references = references
        self._report = report
        self.problem = report.problem

    def read(self, schema: JsonObject | None, pointer: str) -> JsonObject | None:
        if schema is None or not self.check(schema, pointer):
            return None
        try:
            self_contained = self._references.resolve(schema)
        except BadReference as error:
            self._report.problem(pointer, str(error))
            return None
        except RecursionError:
            self._report.problem(pointer, "is nested too deeply")
            return None
        if next(refs_in(schema), None) is not None:
            self._check_referenced(self_contained, pointer)
        return self_contained if isinstance(self_contained, dict) else {}

    def _check_referenced(self, self_contained: Json, pointer: str) -> None:
        """A path that is wrong where it stands is wrong for all that refer to it."""
        for _, sub in walk(self_contained):
            if "source_field" in sub:
                self._check_path(sub["source_field"], pointer)

    def check(self, schema: Json, pointer: str) -> bool:
        """Are all its references and paths good? Reports those that are not."""
        before = len(self._report.problems)
        for below, sub in walk(schema):
            if is_ours(sub.get("$ref")):
                self._check_reference(sub["$ref"], f"{pointer}{below}/$ref")
            if "source_field" in sub:
                self._check_path(sub["source_field"], f"{pointer}{below}/source_field")
        return len(self._report.problems) == before

    def _check_reference(self, ref: str, pointer: str) -> None:
        try:
            self._references.check(ref)
        except BadReference as error:
            names = self._references.names()
            mean = "" if ref in names else did_you_mean(ref, names)
            self._report.problem(pointer, f"{error}{mean}")

    def _check_path(self, path: Json, pointer: str) -> None:
        if not isinstance(path, str):
            self._report.problem(pointer, "must be a JSONPath")
            return
        try:
            compile_path(path)
        except BadPath as error:
            self._report.problem(pointer, str(error))


def _projection(entry: JsonObject, pointer: str, schemas: SchemaReader) -> Projection | None:
    schema = schemas.read(entry.get("outputSchema"), f"{pointer}/outputSchema")
    transform = entry.get("outputTransform")
    if transform is not None:
        return _transformation(transform, f"{pointer}/outputTransform", schema, schemas)
    return None if schema is None else deferred_projection(schema)


def _transformation(
    transform: JsonObject, pointer: str, schema: JsonObject | None, schemas: SchemaReader
) -> Projection | None:
    mappings = transform.get("mappings")
    if not isinstance(mappings, dict):
        schemas.problem(f"{pointer}/mappings", "must be an object of mappings")
        return None
    apply = compile_mappings(mappings, f"{pointer}/mappings", schemas.problem)
    return Projection(apply, without_source_fields(schema or {}))


def _text_extraction(entry: JsonObject, pointer: str, report: Report) -> TextExtraction | None:
    if "textExtraction" not in entry:
        return None
    extraction = {_EXTRACTION_NAMES.get(k, k): v for k, v in entry["textExtraction"].items()}
    usable = "parser" in extraction
    for field, pattern in extraction.get("item_patterns", {}).items():
        usable &= _is_pattern(pattern, f"{pointer}/item_patterns/{escape(field)}", report)
    return compile_text_extraction(extraction) if usable else None


_EXTRACTION_NAMES = {"listField": "list_field", "itemPatterns": "item_patterns"}


def _is_pattern(pattern: str | JsonObject, pointer: str, report: Report) -> bool:
    fields: JsonObject = {"regex": pattern} if isinstance(pattern, str) else pattern
    if "regex" not in fields:
        return False
    wrong = check_pattern(fields["regex"], fields.get("multiline", False))
    if wrong:
        report.problem(f"{pointer}/regex", f"is not a pattern of RE2: {wrong}")
    return not wrong


def _composition(entry: JsonObject, pointer: str, report: Report) -> Any:
    spec = entry.get("spec")
    return None if spec is None else parse_composition(spec, pointer, report.problem)
