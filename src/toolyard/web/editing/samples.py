"""A result that a tool really gave, as a tool that is still a draft would hand it on."""

from __future__ import annotations

from toolyard.catalog.snapshot import Catalog
from toolyard.errors import ToolError
from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.output.extract import value_of
from toolyard.virtual.query.paths import MISSING
from toolyard.virtual.target import Output, VirtualTarget, project


def tried_on(sample: Json, catalog: Catalog | None) -> JsonObject | None:
    """`value`: the JSON in the result; `result`: what the tool would make of it, or `error`.

    `sample` is `{"tool": NAME, "result": ...}`; None where it is not that.
    """
    if not isinstance(sample, dict) or not isinstance(sample.get("result"), dict):
        return None
    value = value_of(sample["result"])
    report: JsonObject = {} if value is MISSING else {"value": value}
    output = _output_of(catalog, str(sample.get("tool"))) if catalog is not None else None
    if output is None:
        return report
    try:
        return {**report, "result": project(sample["result"], output)}
    except ToolError as error:
        return {**report, "error": error.message}


def _output_of(catalog: Catalog, name: str) -> Output | None:
    tool = catalog.tools.get(name)
    target = tool.target if tool is not None else None
    return target.output if isinstance(target, VirtualTarget) else None
