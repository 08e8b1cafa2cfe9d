"""Every registry case, run against the handler in this process."""

from __future__ import annotations

import pytest

from tests.registry import (
    cases_arguments,
    cases_defaults,
    cases_forgiven,
    cases_formats,
    cases_names,
    cases_problems,
    cases_problems_elsewhere,
    cases_projection,
    cases_schemas,
    cases_servers,
    cases_sources,
)
from tests.registry.case import NOTHING, Ask, Case
from tests.registry.running import Running, load
from toolyard.errors import ConfigError

MODULES = (
    cases_sources,
    cases_arguments,
    cases_defaults,
    cases_schemas,
    cases_projection,
    cases_servers,
    cases_names,
    cases_formats,
    cases_forgiven,
    cases_problems,
    cases_problems_elsewhere,
)
CASES: list[Case] = [case for module in MODULES for case in module.CASES]
GOOD = [case for case in CASES if not case.problems]
BAD = [case for case in CASES if case.problems and case.serves is None]
FORGIVEN = [case for case in CASES if case.problems and case.serves is not None]


def test_there_are_enough_cases_and_each_has_its_own_name() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 120


@pytest.mark.parametrize("case", BAD, ids=[case.name for case in BAD])
def test_a_file_is_refused_with_all_its_problems(case: Case) -> None:
    with pytest.raises(ConfigError) as refused:
        load(case)
    found = [(problem.pointer, problem.message) for problem in refused.value.problems]
    assert [pointer for pointer, _ in found] == [pointer for pointer, _ in case.problems]
    for (_, message), (_, said) in zip(found, case.problems, strict=True):
        assert said in message


@pytest.mark.parametrize("case", FORGIVEN, ids=[case.name for case in FORGIVEN])
async def test_a_mistake_in_one_entry_disables_that_one(case: Case) -> None:
    running = Running(case)
    found = [(problem.pointer, problem.message) for problem in running.registry.problems]
    assert [pointer for pointer, _ in found] == [pointer for pointer, _ in case.problems], found
    for (_, message), (_, said) in zip(found, case.problems, strict=True):
        assert said in message
    assert list(await running.list()) == case.serves
    for name in case.serves or ():
        assert "isError" not in await running.call(name, {}), name
    for name, said in case.disabled.items():
        await check(Ask(name, error=said), running)
    warnings = "\n".join(running.entries.warnings)
    for said in (*case.warns, *case.disabled.values()):
        assert said in warnings


@pytest.mark.parametrize("case", GOOD, ids=[case.name for case in GOOD])
async def test_a_registry_gives_what_it_says(case: Case) -> None:
    running = Running(case)
    listed = await running.list()
    if case.names is not None:
        assert list(listed) == case.names
    for tool, members in case.shows.items():
        assert {key: listed[tool].get(key) for key in members} == members
    for tool, absent in case.lacks.items():
        assert not set(absent) & set(listed[tool])
    for ask in case.asks:
        await check(ask, running)
    warnings = "\n".join(running.entries.warnings)
    assert all(said in warnings for said in case.warns), warnings


async def check(ask: Ask, running: Running) -> None:
    running.heard.clear()
    result = await running.call(ask.tool, dict(ask.arguments))
    if ask.refused is not None:
        assert result == {"error": ask.refused}
        return
    said = "\n".join(block.get("text", "") for block in result["content"])
    assert bool(result.get("isError")) == (ask.error is not None), said
    assert ask.error is None or ask.error in said, said
    if ask.reaches is not None:
        assert running.heard == [ask.reaches]
    if ask.structured is not NOTHING:
        assert result["structuredContent"] == ask.structured
    if ask.text is not None:
        assert said == ask.text
