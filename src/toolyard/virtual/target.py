"""The Target of a virtual tool: defaults in, projection out, wherever its source runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from toolyard.catalog.validation import Checker, checker_or_reason
from toolyard.errors import ProtocolError, ToolError
from toolyard.protocol.call import Call, Channel, Encoded, Json, JsonObject, Result, Target
from toolyard.protocol.codec import dumps
from toolyard.virtual.codec import decoded
from toolyard.virtual.naming import error_with_own_names, with_own_names
from toolyard.virtual.output.extract import find_embedded, find_stated, texts_of, value_of
from toolyard.virtual.output.listings import TextExtraction
from toolyard.virtual.output.nulls import without_nulls
from toolyard.virtual.output.projection import Projection
from toolyard.virtual.query.paths import MISSING
from toolyard.virtual.renaming import Renaming
from toolyard.virtual.stages import Stages
from toolyard.virtual.watching import Onlooker

# A complaint quotes the value, which may be the whole result: cut it.
LONGEST_COMPLAINT = 500


@dataclass(frozen=True, slots=True)
class Output:
    """What the registry's outputSchema makes of a result."""

    projection: Projection
    check: Checker
    text_extraction: TextExtraction | None = None

    @classmethod
    def of(cls, projection: Projection, text_extraction: TextExtraction | None = None) -> Output:
        return cls(projection, lazy_checker(projection.advertised), text_extraction)


@dataclass(frozen=True, slots=True)
class VirtualTarget:
    """A tool made from another: arguments are renamed and
    completed on the way in, its result is projected."""

    source: Target
    defaults: Mapping[str, Json] = field(default_factory=dict)
    output: Output | None = None
    renamings: tuple[Renaming, ...] = ()
    onlooker: Onlooker | None = None

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        if self.renamings:
            arguments = self._in_source_names(arguments)
        result = await self._from_source({**arguments, **self.defaults}, call, channel)
        if self.output is None:
            return result
        if self.onlooker is None:
            return project(result, self.output)
        return self.onlooker.projection(call, result, partial(project, output=self.output))

    async def explain(
        self, arguments: JsonObject, call: Call, channel: Channel, stages: Stages
    ) -> Result:
        """The same call, with each stage recorded."""
        stages.mark("arguments", arguments)
        if self.renamings:
            arguments = self._in_source_names(arguments)
            stages.mark("renamed", arguments)
        complete = {**arguments, **self.defaults}
        stages.mark("with defaults", complete)
        result = decoded(await self._from_source(complete, call, channel))
        stages.mark("result", result)
        return result if self.output is None else project(result, self.output, stages)

    async def _from_source(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        if not self.renamings:
            return await self.source.call(arguments, call, channel)
        try:
            result = await self.source.call(arguments, call, channel)
        except ProtocolError as error:
            raise error_with_own_names(error, self.renamings) from None
        return with_own_names(result, self.renamings)

    def _in_source_names(self, arguments: JsonObject) -> JsonObject:
        for renaming in self.renamings:
            arguments = renaming.translate(arguments)
        return arguments


def lazy_checker(schema: JsonObject) -> Checker:
    """Compiled at its first use: whoever lists and never calls does not pay for it."""
    cache: list[Checker] = []

    def check(value: Json) -> str | None:
        if not cache:
            cache.append(checker_or_reason(schema))
        return cache[0](value)

    return check


def project(result: Result, output: Output, stages: Stages | None = None) -> Result:
    """The result in the shape of the output schema. Raises ToolError where it does not fit."""
    if isinstance(result, Encoded):
        result = decoded(result)
    if result.get("isError") or result.get("resultType", "complete") != "complete":
        return result
    value = _value(result, output.text_extraction)
    if value is MISSING:
        return _without_json(result)
    if stages:
        stages.mark("json", value)
    output_value = output.projection.apply(value)
    if stages:
        stages.mark("projection", output_value)
    complaint = output.check(output_value)
    if complaint is not None:
        output_value = without_nulls(output_value, output.projection.advertised)
        complaint = output.check(output_value)
    if complaint is not None:
        reason = complaint[:LONGEST_COMPLAINT]
        raise ToolError(f"the projected result does not fit its outputSchema: {reason}")
    shaped_result = {
        "content": [{"type": "text", "text": dumps(output_value).decode()}],
        "structuredContent": output_value,
    }
    if stages:
        stages.mark("shaped", shaped_result)
    return shaped_result


def _value(result: JsonObject, extraction: TextExtraction | None) -> Json:
    if extraction is None or result.get("structuredContent") is not None:
        value = value_of(result)
        return _extracted(result, extraction) if value is MISSING else value
    value = find_stated(texts_of(result))
    return _extracted(result, extraction) if value is MISSING else value


def _extracted(result: JsonObject, extraction: TextExtraction | None) -> Json:
    """What the patterns find, before embedded JSON: a list item like `[2]` is not a value."""
    texts = texts_of(result)
    if extraction is None or not texts:
        return MISSING
    items = extraction.of("\n".join(texts))
    if items[extraction.list_field]:
        return items
    value = find_embedded(texts)
    return items if value is MISSING else value


def _without_json(result: JsonObject) -> JsonObject:
    notice = "The result holds no JSON to project. It was:"
    content = result.get("content")
    original = content if isinstance(content, list) else []
    return {"content": [{"type": "text", "text": notice}, *original], "isError": True}
