"""The registry cases again, through real gateways over HTTP and real servers behind them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.cli.program import toolyard
from tests.gateway.case_gateways import Gateways, Loaded, write_case
from tests.gateway.yard import Yard
from tests.peers.raw import MODERN
from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from tests.registry.case import NOTHING, Ask, Case
from tests.registry.running import load
from tests.registry.test_cases import BAD, GOOD


def has_scripts_or_variables(case: Case) -> bool:
    return bool(case.scripts or case.environ)


def is_elsewhere(case: Case) -> bool:
    """A server of the internet, which is not here."""
    return any(server.url and server.disabled is None for server in load(case).servers)


OWN_PROCESS = [case for case in GOOD if has_scripts_or_variables(case)]
SHARED = [case for case in GOOD if not has_scripts_or_variables(case) and not is_elsewhere(case)]


def test_there_are_enough_cases() -> None:
    assert len(OWN_PROCESS) + len(SHARED) >= 120


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateways(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateways]:
    async with Gateways(tmp_path_factory.mktemp("gateways"), SHARED).started() as started:
        yield started


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("case", SHARED, ids=[case.name for case in SHARED])
async def test_a_gateway_gives_what_its_registry_says(gateways: Gateways, case: Case) -> None:
    await check(case, await gateways.loaded(case))


async def check(case: Case, loaded: Loaded) -> None:
    listed = await loaded.tools()
    if case.names is not None:
        # Scripts come in the order of their folder.
        ordered = sorted if case.scripts else list
        assert ordered(listed) == ordered(case.names)
    for tool, members in case.shows.items():
        assert {key: listed[tool].get(key) for key in members} == members
    for tool, absent in case.lacks.items():
        assert not set(absent) & set(listed[tool])
    for ask in case.asks:
        await check_call(ask, loaded)
    assert all(said in loaded.warned() for said in case.warns), loaded.warned()


async def check_call(ask: Ask, loaded: Loaded) -> None:
    result = await loaded.call(ask.tool, dict(ask.arguments))
    heard = loaded.heard()
    if ask.refused is not None:
        assert result == {"error": ask.refused}
        return
    said = "\n".join(block.get("text", "") for block in result["content"])
    assert bool(result.get("isError")) == (ask.error is not None), said
    assert ask.error is None or ask.error in said, said
    if ask.reaches is not None:
        assert heard == [ask.reaches]
    if ask.structured is not NOTHING:
        assert result["structuredContent"] == ask.structured
    if ask.text is not None:
        assert said == ask.text


@pytest.mark.parametrize("case", OWN_PROCESS, ids=[case.name for case in OWN_PROCESS])
async def test_a_gateway_over_scripts_gives_what_its_registry_says(
    yard: Yard, tmp_path: Path, case: Case
) -> None:
    folder = tmp_path / "case"
    yard.write("server.d/server.meta.json", {"name": "yard"})
    yard.write("registry.json", write_case(case, folder))
    for script in case.scripts:
        write_script(yard, script, folder / "calls.log")
    async with (
        serving(yard.root, "--no-page", env=case.environ) as server,
        over_http(server.url, MODERN, checked=False) as client,
    ):
        await check(case, Loaded(client, server, folder / "calls.log"))


def write_script(yard: Yard, script: dict[str, object], log: Path) -> None:
    """A script that notes what it is given and answers as its description says."""
    meta = {key: value for key, value in script.items() if key not in ("name", "result", "extra")}
    extra = script.get("extra")
    meta |= extra if isinstance(extra, dict) else {}
    noted = f'printf \'["script","%s",%s]\\n\' {script["name"]} "$MCP_TOOL_ARGS_JSON" >>"{log}"'
    answer = 'printf "%s" "$MCP_TOOL_ARGS_JSON"'
    result = script.get("result")
    if isinstance(result, dict):
        answer = f"cat <<'END'\n{result['content'][0]['text']}\nEND"
    yard.script(str(script["name"]), f"{noted}\n{answer}", **meta)


def test_every_wrong_file_is_refused_with_all_its_problems(tmp_path: Path) -> None:
    """All of them in one command: the problems of all files are said at once."""
    flags: list[str | Path] = []
    for number, case in enumerate(BAD):
        text = case.registry if isinstance(case.registry, str) else json.dumps(case.registry)
        path = tmp_path / f"{number:03}.json"
        path.write_text(text)
        flags += ["--registry", path]
    done = toolyard("registry", "check", "--json", *flags)
    assert done.code == 2
    found: dict[str, list[tuple[str, str]]] = {}
    for problem in done.json["problems"]:
        name = Path(problem["file"]).name
        found.setdefault(name, []).append((problem["pointer"], problem["message"]))
    for number, case in enumerate(BAD):
        said = found[f"{number:03}.json"]
        assert [pointer for pointer, _ in said] == [pointer for pointer, _ in case.problems]
        for (_, message), (_, part) in zip(said, case.problems, strict=True):
            assert part in message
