"""A virtual tool's call, from its arguments to its result."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.virtual.seams import CALL, Answers, Keeps, text
from toolyard.errors import ProtocolError, ToolError
from toolyard.protocol.call import Encoded
from toolyard.virtual.codec import decoded
from toolyard.virtual.output.listings import compile_text_extraction
from toolyard.virtual.output.projection import compile_projection
from toolyard.virtual.renaming import Argument, Renaming
from toolyard.virtual.stages import Stages
from toolyard.virtual.target import Output, VirtualTarget

SCHEMA = {
    "type": "object",
    "properties": {"total": {"type": "integer", "source_field": "$.count"}},
    "required": ["total"],
}
PROJECTED = {
    "content": [{"type": "text", "text": '{"total":2}'}],
    "structuredContent": {"total": 2},
}


def output(schema: Any = SCHEMA, extraction: Any = None) -> Output:
    compiled = compile_text_extraction(extraction) if extraction else None
    return Output.of(compile_projection(schema), compiled)


async def answer_to(result: Any, **virtual: Any) -> Any:
    target = VirtualTarget(Answers(result), output=virtual.pop("output", output()), **virtual)
    return await target.call({}, CALL, Keeps())


async def test_defaults_are_added_and_win() -> None:
    source = Answers(text("ok"))
    defaults: dict[str, Any] = {"a": False, "b": None, "c": {"d": []}, "e": ""}
    await VirtualTarget(source, defaults).call({"q": "x", "a": True}, CALL, Keeps())
    assert source.heard == [{"q": "x", "a": False, "b": None, "c": {"d": []}, "e": ""}]


async def test_without_an_output_schema_the_result_passes_as_it_is() -> None:
    result = {**text("x"), "_meta": {"vendor/key": 1}, "unknown": True}
    assert await VirtualTarget(Answers(result)).call({}, CALL, Keeps()) is result


@pytest.mark.parametrize(
    "result",
    [
        {"content": [], "structuredContent": {"count": 2, "secret": 1}},
        text('{"count": 2, "secret": 1}'),
        {**text('{"count": 2}'), "structuredContent": {"result": '{"count": 2}'}},
        {**text('{"count": 2}'), "_meta": {"leak": 1}, "extra": 1, "resultType": "complete"},
        Encoded(b'{"content":[{"type":"text","text":"{\\"count\\":2}"}]}'),
    ],
)
async def test_the_result_is_the_projection_and_nothing_else(result: Any) -> None:
    assert await answer_to(result) == PROJECTED


async def test_an_error_passes_untouched() -> None:
    result = {**text('{"count": 2}'), "isError": True}
    assert await answer_to(result) == result


async def test_a_question_passes_untouched() -> None:
    result = {"resultType": "input_required", "inputRequests": {"a": {}}, "requestState": "s"}
    assert await answer_to(result) == result


async def test_a_result_without_json_is_an_error_that_carries_the_text() -> None:
    result = await answer_to(text("Sorry, nothing."))
    assert result["isError"] is True
    assert "no JSON" in result["content"][0]["text"]
    assert result["content"][1:] == text("Sorry, nothing.")["content"]


async def test_a_missing_required_value_is_a_tool_error() -> None:
    with pytest.raises(ToolError, match=r'lacks "total": nothing at \$.count'):
        await answer_to(text("{}"))


async def test_a_projection_that_does_not_fit_its_schema_is_a_tool_error() -> None:
    with pytest.raises(ToolError, match=r'does not fit its outputSchema: /total: "two" is not'):
        await answer_to(text('{"count": "two"}'))


async def test_a_big_integer_keeps_its_digits() -> None:
    result = await answer_to(text('{"count": 36893488147419103233}'))
    assert result["structuredContent"] == {"total": 2**65 + 1}
    assert result["content"][0]["text"] == '{"total":36893488147419103233}'


async def test_the_text_of_the_result_is_the_same_json() -> None:
    schema = {"properties": {"x": {"source_field": "$.é"}}}
    result = await answer_to(text('{"é": ["ü", 1.5, null]}'), output=output(schema))
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


EXTRACTION = {
    "parser": "markdown_numbered_list",
    "list_field": "found",
    "item_patterns": {"name": {"regex": r"\*\*(.+?)\*\*", "required": True}},
}
NAMES = {
    "type": "object",
    "properties": {"names": {"type": "array", "source_field": "$.found[*].name"}},
}


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("1. **a** [2]\n2. **b**", ["a", "b"]),
        ('{"found": [{"name": "c"}]}', ["c"]),
        ('```json\n{"found": [{"name": "c"}]}\n```\n1. **a**', ["c"]),
        ('So: {"found": [{"name": "c"}]}', ["c"]),
        ("No results.", []),
    ],
)
async def test_a_markdown_list_is_read_where_the_text_holds_no_json(
    said: str, names: list[str]
) -> None:
    result = await answer_to(text(said), output=output(NAMES, EXTRACTION))
    assert result["structuredContent"] == {"names": names}


async def test_each_stage_of_a_call_can_be_recorded() -> None:
    ticks = iter(range(100))
    stages = Stages(lambda: float(next(ticks)))
    target = VirtualTarget(Answers(text('{"count": 2}')), {"d": 1}, output())
    assert await target.explain({"q": 1}, CALL, Keeps(), stages) == PROJECTED
    assert [(stage.name, stage.value, stage.size) for stage in stages.marks] == [
        ("arguments", {"q": 1}, 7),
        ("with defaults", {"q": 1, "d": 1}, 13),
        ("result", text('{"count": 2}'), 53),
        ("json", {"count": 2}, 11),
        ("projection", {"total": 2}, 11),
        ("shaped", PROJECTED, 84),
    ]
    assert {stage.seconds for stage in stages.marks} == {1.0}


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"$ref": "http://127.0.0.1:1/schema.json"}, "never fetched"),
        ({"type": "nope"}, "not valid"),
    ],
)
async def test_a_schema_that_is_none_fails_the_call_and_fetches_nothing(
    schema: Any, says: str
) -> None:
    with pytest.raises(ToolError, match=says):
        await answer_to(text("{}"), output=output(schema))


async def test_a_complaint_is_short_even_about_a_long_value() -> None:
    with pytest.raises(ToolError) as failed:
        await answer_to(text('{"count": "%s"}' % ("x" * 10_000)))
    assert len(failed.value.message) < 600


def test_importing_the_target_loads_no_heavy_library() -> None:
    code = (
        "import sys, toolyard.virtual.target\n"
        "heavy = {'jsonschema_rs', 'jsonpath', 're2', 'asyncio'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_an_explanation_shows_what_renamed_arguments_become() -> None:
    stages = Stages(lambda: 0.0)
    renaming = Renaming({"zone": Argument("timezone")})
    target = VirtualTarget(Answers(text("{}")), {"d": 1}, renamings=(renaming,))
    await target.explain({"zone": "UTC"}, CALL, Keeps(), stages)
    assert [(stage.name, stage.value) for stage in stages.marks][:3] == [
        ("arguments", {"zone": "UTC"}),
        ("renamed", {"timezone": "UTC"}),
        ("with defaults", {"timezone": "UTC", "d": 1}),
    ]


ZONE = Renaming({"zone": Argument("timezone"), "n": Argument("q"), "note": Argument("text", "T")})


def failed(*texts: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": part} for part in texts], "isError": True}


@pytest.mark.parametrize(
    ("sentence", "note"),
    [
        ("Invalid timezone: Mars", 'The argument "timezone" is called "zone" here.'),
        ("at /timezone: not a string", 'The argument "timezone" is called "zone" here.'),
        ("`q` is required", 'The argument "q" is called "n" here.'),
        (
            "timezone and 'text' are wrong",
            'The argument "text" is called "note" here. '
            'The argument "timezone" is called "zone" here.',
        ),
        ("timezones are not for q and a", None),
        ("no such file", None),
    ],
)
async def test_an_error_that_speaks_of_the_sources_names_says_what_they_are_called_here(
    sentence: str, note: str | None
) -> None:
    """Whether it comes as a value or as text; the words of the source stay."""
    expected = failed(sentence) if note is None else failed(sentence, note)
    for result in (failed(sentence), Encoded(json.dumps(failed(sentence)).encode())):
        target = VirtualTarget(Answers(result), renamings=(ZONE,))
        assert decoded(await target.call({}, CALL, Keeps())) == expected
        assert decoded(await target.explain({}, CALL, Keeps(), Stages(lambda: 0.0))) == expected


async def test_a_protocol_error_of_a_source_says_it_too() -> None:
    class Refuses:
        async def call(self, arguments: Any, call: Any, channel: Any) -> Any:
            raise ProtocolError(-32602, "missing timezone", {"at": "timezone"})

    with pytest.raises(ProtocolError) as error:
        await VirtualTarget(Refuses(), renamings=(ZONE,)).call({}, CALL, Keeps())
    assert error.value.message == (
        'missing timezone (The argument "timezone" is called "zone" here.)'
    )
    assert (error.value.code, error.value.data) == (-32602, {"at": "timezone"})


@pytest.mark.parametrize(
    "outer",
    [{"where": Argument("zone")}, {"where": Argument("zone"), "zone": Argument("place")}],
)
async def test_along_a_chain_the_note_has_the_name_that_the_caller_uses(
    outer: dict[str, Argument],
) -> None:
    renamings = Renaming(outer), Renaming({"zone": Argument("timezone")})
    target = VirtualTarget(Answers(failed("bad timezone, bad place")), renamings=renamings)
    result = decoded(await target.call({"where": "x"}, CALL, Keeps()))
    notes = ['The argument "timezone" is called "where" here.']
    notes += ['The argument "place" is called "zone" here.'] if "zone" in outer else []
    assert result["content"][1]["text"] == " ".join(notes)


async def test_what_is_no_error_passes_as_it_is_under_other_names_too() -> None:
    result = text("the timezone is fine")
    assert await VirtualTarget(Answers(result), renamings=(ZONE,)).call({}, CALL, Keeps()) is result
    encoded = Encoded(json.dumps(result).encode())
    target = VirtualTarget(Answers(encoded), renamings=(ZONE,))
    assert await target.call({}, CALL, Keeps()) is encoded
