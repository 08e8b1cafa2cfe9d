"""What an upstream exposes beside its tools: prompts, resources, templates, completions."""

from __future__ import annotations

import json
from typing import Any

from tests.registry.case import Case
from tests.registry.running import Upstreams
from tests.virtual.seams import CALL, Keeps
from toolyard.catalog.entries import Entries, Origin, Prompt, Resource
from toolyard.catalog.listing import Listing
from toolyard.sources.registry.chain.overlay import lay_over
from toolyard.sources.registry.format.load import read_registry

NOWHERE = Origin("project", "", "prompts")


def laid(registry: Any, *listings: Listing, scripts: Entries | None = None) -> tuple[Entries, Any]:
    heard: list[Any] = []
    read = read_registry(json.dumps(registry).encode(), "registry.json", {})
    connect = Upstreams(Case("", {}), heard)
    by_name = {listing.server: listing for listing in listings}
    return lay_over(read, scripts or Entries(), by_name, connect), heard


def listing(server: str, **more: Any) -> Listing:
    return Listing(
        server,
        prompts=({"name": "ask", "title": "Ask"},),
        resources=({"uri": "a://x", "name": "x"},),
        templates=({"uriTemplate": "a://{y}", "name": "y"},),
        capabilities={"completions": {}},
        **more,
    )


def exposing(**more: Any) -> Any:
    return {"servers": [{"name": "u", "stdio": {"command": "x"}, "expose": "all", **more}]}


async def test_everything_of_an_exposed_server_is_offered() -> None:
    entries, heard = laid(exposing(prefix="u_"), listing("u"))
    (prompt,) = entries.prompts
    assert (prompt.name, prompt.definition) == ("u_ask", {"name": "u_ask", "title": "Ask"})
    assert [one.uri for one in entries.resources] == ["a://x"]
    assert [one.uri_template for one in entries.templates] == ["a://{y}"]
    assert [one.ref for one in entries.completions] == ["u_ask", "a://{y}"]
    await prompt.target.call({"q": "1"}, CALL, Keeps())
    assert heard == [("u", "prompt ask", {"q": "1"})]


async def test_a_completion_asks_for_the_prompt_by_its_own_name() -> None:
    entries, heard = laid(exposing(prefix="u_"), listing("u"))
    params = {"ref": {"type": "ref/prompt", "name": "u_ask"}, "argument": {"name": "q"}}
    await entries.completions[0].target.call(params, CALL, Keeps())
    assert heard == [("u", "completion", {**params, "ref": {"type": "ref/prompt", "name": "ask"}})]


def test_patterns_expose_tools_only() -> None:
    entries, _ = laid(exposing(expose=["*"]), listing("u", tools=({"name": "t"},)))
    assert [tool.name for tool in entries.tools] == ["t"]
    assert not (entries.prompts or entries.resources or entries.templates or entries.completions)


def test_without_the_capability_nothing_completes() -> None:
    listed = Listing("u", prompts=({"name": "ask"},))
    entries, _ = laid(exposing(), listed)
    assert (len(entries.prompts), entries.completions) == (1, ())


def test_scripts_keep_their_names_and_uris() -> None:
    target = Upstreams(Case("", {}), []).resource("x")
    scripts = Entries(
        prompts=(Prompt("ask", {"name": "ask"}, target, NOWHERE),),
        resources=(Resource("a://x", {"name": "mine"}, target, NOWHERE),),
    )
    entries, _ = laid(exposing(), listing("u"), scripts=scripts)
    assert [prompt.origin for prompt in entries.prompts] == [NOWHERE]
    assert [resource.name for resource in entries.resources] == ["mine"]
    assert len([warning for warning in entries.warnings if "is left out" in warning]) == 2


def test_prompts_of_two_servers_in_an_mcp_servers_file_are_told_apart() -> None:
    registry = {"mcpServers": {"u": {"command": "x"}, "v": {"command": "y"}}}
    entries, _ = laid(registry, listing("u"), listing("v"))
    assert [prompt.name for prompt in entries.prompts] == ["ask", "v_ask"]
    assert [resource.origin.owner for resource in entries.resources] == ["u"]


def test_what_a_server_listed_before_it_failed_stays_offered() -> None:
    stale = Listing("u", tools=({"name": "t"},), error="down")
    entries, _ = laid(exposing(), stale)
    assert [tool.name for tool in entries.tools] == ["t"]


def test_a_server_that_never_listed_disables_nothing() -> None:
    registry = {**exposing(expose="listed"), "tools": [{"name": "t", "server": "u"}]}
    entries, _ = laid(registry, Listing("u", error="down"))
    assert [(tool.name, tool.unavailable) for tool in entries.tools] == [("t", None)]


def test_project_expose_reaches_prompts_and_resources_too() -> None:
    target = Upstreams(Case("", {}), []).resource("x")
    scripts = Entries(
        prompts=(Prompt("ask", {"name": "ask"}, target, NOWHERE),),
        resources=(Resource("a://x", {"name": "x"}, target, NOWHERE),),
    )
    entries, _ = laid({"project": {"expose": ["a*"]}}, scripts=scripts)
    assert (len(entries.prompts), len(entries.resources)) == (1, 0)
