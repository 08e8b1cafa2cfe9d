"""Tools composed of tools, from the file to the result."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.registry.case import Case
from tests.registry.running import Upstreams
from tests.virtual.seams import CALL, Answers, Keeps, text
from toolyard.catalog.entries import Entries, Tool
from toolyard.errors import ProtocolError, ToolError
from toolyard.protocol.call import Call, Channel, JsonObject, Questions, Result, Target
from toolyard.sources.registry.chain.overlay import lay_over
from toolyard.sources.registry.chain.targets import Timed
from toolyard.sources.registry.format.load import read_registry

ITEMS = [{"id": 3, "s": "c"}, {"id": 1, "s": "a"}, {"id": 2, "s": "b"}]


class Tools(Upstreams):
    """Upstream tools from functions or results."""

    def __init__(self, **tools: Any) -> None:
        super().__init__(Case("", {}), [])
        self.targets: dict[str, Any] = {
            name: tool if hasattr(tool, "call") else Answers(tool) for name, tool in tools.items()
        }

    def tool(self, server: str, name: str) -> Target:
        target: Target = self.targets[name]
        return target


def as_text(function: Callable[[JsonObject], Any]) -> Callable[[JsonObject], Result]:
    return lambda arguments: text(json.dumps(function(arguments)))


def composed(spec: Any, tools: Tools, **more: Any) -> Tool:
    listed = [{"name": name, "server": "u"} for name in tools.targets]
    registry = {
        "servers": [{"name": "u", "stdio": {"command": "x"}}],
        "tools": [{"name": "made", "spec": spec, **more}, *listed],
    }
    read = read_registry(json.dumps(registry).encode(), "registry.json", {}, [])
    return lay_over(read, Entries(), {}, tools).tools[0]


async def run(spec: Any, tools: Tools, arguments: Any = None, **more: Any) -> Any:
    result = await composed(spec, tools, **more).target.call(arguments or {}, CALL, Keeps())
    assert isinstance(result, dict)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    return result["structuredContent"]


def step(name: str, operation: Any, binding: Any = None) -> Any:
    used = {"tool": {"name": operation}} if isinstance(operation, str) else {"pattern": operation}
    return {"id": name, "operation": used, **({"input": binding} if binding else {})}


def pipeline(*steps: Any) -> Any:
    return {"pipeline": {"steps": list(steps)}}


async def test_a_pipeline_hands_values_from_step_to_step() -> None:
    tools = Tools(
        search=as_text(lambda a: {"hits": [a["q"] + "1", a["q"] + "2"]}), fetch=as_text(lambda a: a)
    )
    bound = {
        "construct": {
            "fields": {
                "first": {"step": {"stepId": "s", "path": "$.hits[0]"}},
                "all": {"step": {"stepId": "s", "path": "$.hits[*]"}},
                "q": {"input": {"path": "$.q"}},
                "n": {"constant": {"step_id": 1}},
                "none": {"input": {"path": "$.none"}},
            }
        }
    }
    spec = pipeline(step("s", "search", {"input": {"path": "$"}}), step("f", "fetch", bound))
    expected = {"first": "x1", "all": ["x1", "x2"], "q": "x", "n": {"step_id": 1}, "none": None}
    assert await run(spec, tools, {"q": "x"}) == expected


async def test_a_step_without_a_binding_takes_what_the_one_before_gave() -> None:
    tools = Tools(a=as_text(lambda _: {"x": 1}), b=as_text(lambda a: {"got": a}))
    assert await run(pipeline(step("1", "a"), step("2", "b")), tools) == {"got": {"x": 1}}


async def test_scatter_gather_aggregates_in_the_order_stated() -> None:
    tools = Tools(a=as_text(lambda _: ITEMS), b=as_text(lambda _: [{"id": 1}, {"id": 9}]))
    ops = [
        {"flatten": True},
        {"dedupe": {"field": "$.id"}},
        {"sort": {"field": "id", "order": "desc"}},
        {"limit": {"count": 3}},
    ]
    spec = {
        "scatterGather": {"targets": [{"tool": "a"}, {"tool": "b"}], "aggregation": {"ops": ops}}
    }
    assert await run(spec, tools) == [{"id": 9}, {"id": 3, "s": "c"}, {"id": 2, "s": "b"}]


async def test_scatter_gather_goes_on_without_the_branch_that_failed() -> None:
    tools = Tools(a=as_text(lambda _: 1), b={**text("broken"), "isError": True})
    spec = {"scatterGather": {"targets": [{"tool": "a"}, {"tool": "b"}]}}
    assert await run(spec, tools) == [1]
    spec["scatterGather"]["failFast"] = True  # type: ignore[assignment]
    with pytest.raises(ToolError, match="step target 2: tool b: broken"):
        await run(spec, tools)


async def test_scatter_gather_fails_where_every_branch_does() -> None:
    spec = {"scatterGather": {"targets": [{"tool": "b"}]}}
    with pytest.raises(ToolError, match="broken"):
        await run(spec, Tools(b={**text("broken"), "isError": True}))


class Never:
    """A Target that answers when pigs fly."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise AssertionError


async def test_a_branch_that_takes_too_long_is_left_behind_and_cancelled() -> None:
    never = Never()
    spec = {"scatterGather": {"targets": [{"tool": "a"}, {"tool": "n"}], "timeoutMs": 20}}
    assert await run(spec, Tools(a=as_text(lambda _: 1), n=never)) == [1]
    assert never.cancelled.is_set()


async def test_filter_keeps_what_fits() -> None:
    predicate = {"field": "$.id", "op": "gte", "value": {"numberValue": 2}}
    spec = pipeline(step("l", "list"), step("f", {"filter": {"predicate": predicate}}))
    tools = Tools(list=as_text(lambda _: ITEMS))
    assert [one["id"] for one in await run(spec, tools)] == [3, 2]


@pytest.mark.parametrize(
    ("op", "value", "kept"),
    [
        ("eq", 1, [1]),
        ("ne", 1, [3, 2]),
        ("gt", 1, [3, 2]),
        ("lt", 2, [1]),
        ("<=", 2, [1, 2]),
        ("in", [1, 9], [1]),
        ("exists", True, [3, 1, 2]),
        ("gt", "a", []),
    ],
)
async def test_predicates_compare_like_with_like(op: str, value: Any, kept: list[int]) -> None:
    spec = pipeline(
        step("l", "list"),
        step("f", {"filter": {"predicate": {"field": "id", "op": op, "value": value}}}),
    )
    tools = Tools(list=as_text(lambda _: ITEMS))
    assert [one["id"] for one in await run(spec, tools)] == kept


async def test_schema_map_shapes_a_value() -> None:
    mappings = {
        "n": {"path": "$.id"},
        "text": {"template": {"template": "{s}!", "vars": {"s": "$.s"}}},
    }
    spec = {"schemaMap": {"mappings": mappings}}
    assert await run(spec, Tools(), {"id": 1, "s": "a"}) == {"n": 1, "text": "a!"}


async def test_map_each_runs_a_tool_over_every_element_in_order() -> None:
    tools = Tools(list=as_text(lambda _: ITEMS), one=as_text(lambda a: a["id"] * 10))
    spec = pipeline(step("l", "list"), step("m", {"mapEach": {"inner": {"tool": "one"}}}))
    assert await run(spec, tools) == [30, 10, 20]


async def test_map_each_runs_at_most_sixteen_at_once() -> None:
    running, most = 0, 0

    class Counted:
        async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return text("1")

    tools = Tools(list=as_text(lambda _: [{}] * 100), one=Counted())
    spec = pipeline(step("l", "list"), step("m", {"mapEach": {"inner": {"tool": "one"}}}))
    assert await run(spec, tools) == [1] * 100
    assert most == 16


async def test_map_each_refuses_more_elements_than_it_may_fan_out_to() -> None:
    tools = Tools(list=as_text(lambda _: [{}] * 1001), one=text("1"))
    spec = pipeline(step("l", "list"), step("m", {"mapEach": {"inner": {"tool": "one"}}}))
    with pytest.raises(ToolError, match="step m: 1001 elements, at most 1000"):
        await run(spec, tools)


async def test_an_error_names_the_step_and_the_tool() -> None:
    def refuse(_: JsonObject) -> Result:
        raise ProtocolError(-32602, "no such page")

    inner = {"mapEach": {"inner": {"tool": "get"}}}
    spec = pipeline(step("find", "list"), step("get all", inner))
    with pytest.raises(ToolError) as failed:
        await run(spec, Tools(list=as_text(lambda _: [{}]), get=refuse))
    assert failed.value.message == "step get all / element 1: tool get: no such page (-32602)"


async def test_arguments_that_are_no_object_are_an_error_of_the_step() -> None:
    spec = pipeline(step("a", "t", {"constant": 5}))
    with pytest.raises(ToolError, match="step a: tool t: its arguments must be an object"):
        await run(spec, Tools(t=text("x")))


async def test_progress_counts_the_steps_and_is_not_disturbed_by_them() -> None:
    class Chatty:
        async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
            channel.progress(99, 100)
            return text("{}")

    channel = Keeps()
    tool = composed(pipeline(step("a", "t"), step("b", "t")), Tools(t=Chatty()))
    await tool.target.call({}, CALL, channel)
    assert channel.reported == [(0, 2, "step a"), (1, 2, "step b"), (2, 2, None)]


async def test_a_question_of_a_step_does_not_run_the_steps_before_it_again() -> None:
    class Asks:
        async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
            if call.input_responses is None:
                wanted = {"n": {"method": "elicitation/create", "params": {}}}
                return {
                    "resultType": "input_required",
                    "inputRequests": wanted,
                    "requestState": "s",
                }
            return text(json.dumps([call.request_state, call.input_responses]))

    class Client(Keeps):
        async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
            return {key: {"action": "accept"} for key in questions}

    first = Answers(text("{}"))
    tool = composed(
        pipeline(step("a", "first"), step("b", "asks")), Tools(first=first, asks=Asks())
    )
    result = await tool.target.call({}, CALL, Client())
    assert isinstance(result, dict)
    assert result["structuredContent"] == ["s", {"n": {"action": "accept"}}]
    assert len(first.heard) == 1


async def test_branches_are_cancelled_for_the_reason_of_the_call() -> None:
    began, reasons = asyncio.Event(), list[str]()

    class Hangs:
        async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
            began.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError as cancelled:
                reasons.append(*cancelled.args)
                raise
            return text("never")

    spec = {"scatterGather": {"targets": [{"tool": "t"}, {"tool": "t"}]}}
    tool = composed(spec, Tools(t=Hangs()))
    calling = asyncio.ensure_future(tool.target.call({}, CALL, Keeps()))
    await began.wait()
    await asyncio.sleep(0)
    calling.cancel("bored")
    await asyncio.gather(calling, return_exceptions=True)
    assert reasons == ["bored", "bored"]


class Unasked(Keeps):
    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        raise AssertionError("nobody can answer nothing")


@pytest.mark.parametrize("rounds", [1, 3])
async def test_a_step_that_asks_for_nothing_is_called_again_with_its_state(rounds: int) -> None:
    class Counts:
        async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
            assert call.input_responses is None
            turn = int(call.request_state or 0)
            if turn < rounds:
                return {"resultType": "input_required", "requestState": str(turn + 1)}
            return text(str(turn))

    tool = composed(pipeline(step("a", "t")), Tools(t=Counts()))
    result = await tool.target.call({}, CALL, Unasked())
    assert isinstance(result, dict)
    assert result["structuredContent"] == rounds


@pytest.mark.parametrize(
    ("asked", "why"),
    [({"requestState": "s"}, "more than 16 times"), ({"inputRequests": [1]}, "wrong form")],
)
async def test_a_step_that_never_stops_asking_or_asks_badly_fails_at_once(
    asked: JsonObject, why: str
) -> None:
    target = Answers({"resultType": "input_required", **asked})
    tool = composed(pipeline(step("a", "t")), Tools(t=target))
    with pytest.raises(ToolError, match=why):
        await tool.target.call({}, CALL, Unasked())


async def test_a_composed_tool_can_be_projected_and_have_defaults() -> None:
    schema = {"type": "object", "properties": {"n": {"source_field": "$.id"}}}
    tools = Tools(t=as_text(lambda a: a))
    spec = pipeline(step("a", "t"))
    assert await run(spec, tools, {}, outputSchema=schema, defaults={"id": 7}) == {"n": 7}


def test_a_composition_over_a_tool_that_is_not_there_is_disabled() -> None:
    made = composed(pipeline(step("a", "nope")), Tools())
    assert made.unavailable == 'no tool named "nope" (/tools/0/spec)'


def test_a_composition_that_uses_itself_is_disabled() -> None:
    made = composed(pipeline(step("a", "made")), Tools())
    assert made.unavailable == "refers to itself: made -> made (/tools/0/spec)"


def test_a_composition_over_a_disabled_tool_is_disabled() -> None:
    registry = {
        "servers": [{"name": "u", "url": "${NOPE}"}],
        "tools": [{"name": "t", "server": "u"}, {"name": "made", "spec": pipeline(step("a", "t"))}],
    }
    read = read_registry(json.dumps(registry).encode(), "registry.json", {}, [])
    made = lay_over(read, Entries(), {}, Tools()).tools[1]
    assert made.unavailable is not None and 'tool "t" is disabled' in made.unavailable


@pytest.mark.parametrize(
    ("spec", "pointer", "says"),
    [
        ({"pipeline": {"steps": []}}, "/pipeline/steps", "at least one step"),
        ({"router": {}}, "", "router cannot be run"),
        (pipeline({"id": "a"}), "/pipeline/steps/0/operation", "cannot be run"),
        (pipeline(step("a", "t"), step("a", "t")), "/pipeline/steps/1/id", "no earlier step has"),
        (
            pipeline(step("a", "t", {"step": {"stepId": "b"}})),
            "/pipeline/steps/0/input/step/stepId",
            "no earlier step 'b'",
        ),
        (
            pipeline(step("a", "t", {"input": {"path": "x"}})),
            "/pipeline/steps/0/input/input/path",
            "a path starts with $",
        ),
        (
            {"scatterGather": {"targets": [{"tool": "t"}], "aggregation": {"ops": [{"zip": {}}]}}},
            "/scatterGather/aggregation/ops/0",
            "must have one of flatten",
        ),
        (
            {"filter": {"predicate": {"field": "$.x", "op": "like"}}},
            "/filter/predicate/op",
            "must be one of eq",
        ),
        ({"mapEach": {"inner": {"tool": {}}}}, "/mapEach/inner/tool", "needs the name"),
        (pipeline(*(step(str(i), "t") for i in range(65))), "", "has 65 steps, at most 64"),
    ],
)
def test_a_composition_that_cannot_run_is_disabled(spec: Any, pointer: str, says: str) -> None:
    made = composed(spec, Tools(t=text("x")))
    assert made.unavailable is not None and not made.listed
    assert says in made.unavailable
    assert f"(/tools/0/spec{pointer})" in made.unavailable


async def test_a_tool_with_a_timeout_gives_up_and_cancels() -> None:
    never = Never()
    with pytest.raises(ToolError, match=r"no answer within 0\.02 seconds"):
        await Timed(never, 0.02).call({}, CALL, Keeps())
    assert never.cancelled.is_set()
