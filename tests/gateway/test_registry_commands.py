"""toolyard registry check, show, explain, convert: the program, over real servers."""

from __future__ import annotations

import json

import pytest

from tests.cli.program import toolyard
from tests.gateway.yard import ECHO, SEARCH, TOTAL, Yard

pytestmark = pytest.mark.long

SECRET = "s3cr3t-of-the-yard"


@pytest.fixture
def searching(yard: Yard) -> Yard:
    yard.registry(
        servers=[yard.upstream("u", SEARCH, ECHO)],
        tools=[
            {"name": "search", "server": "u", "version": "2.0.0"},
            {
                "name": "count",
                "source": "search",
                "description": "Count repositories.",
                "defaults": {"sort": "${SORT}"},
                "outputSchema": TOTAL,
            },
            {"name": "base", "server": "u", "originalName": "echo", "hidden": True},
        ],
    )
    return yard


def test_a_registry_without_problems_checks(searching: Yard) -> None:
    done = toolyard("registry", "check", "--live", cwd=searching.root, env={"SORT": "x"})
    assert (done.code, done.err) == (0, "")
    assert done.out == "registry.json: 1 server, 3 tools; nothing is wrong\n"


def test_every_mistake_is_said_at_once_and_disables_one_entry(yard: Yard) -> None:
    yard.registry(
        servers=[yard.upstream("u", ECHO), {"name": "v"}, {"name": "off", "disabled": True}],
        tools=[
            {"name": "a", "server": "uu"},
            {"name": "b", "server": "v"},
            {"name": "echo", "server": "u"},
            {"name": "d", "spec": {"saga": {}}},
            {"server": "u"},
        ],
    )
    done = toolyard("registry", "check", "--registry", yard.file)
    assert done.code == 1
    assert done.out.endswith("3 servers, 4 tools; 2 servers cannot be used, 3 tools disabled\n")
    assert "#/servers/1: server v is disabled: server v needs stdio (a command) or url" in done.err
    assert not any(line.startswith("server v:") for line in done.err.splitlines())
    assert f"{yard.file}#/tools/4: it is left out: a tool needs a name" in done.err
    told = toolyard("registry", "check", "--json", "--registry", yard.file)
    assert told.code == 1
    pointers = [problem["pointer"] for problem in told.json["problems"]]
    places = ["/servers/1", "/servers/2", "/tools/3/spec", "/tools/4", "/tools/0/server"]
    assert pointers == places
    assert set(told.json["disabled"]) == {"a", "b", "d"}
    assert told.json["unreachable"]["v"] == "server v needs stdio (a command) or url"


def test_a_mistake_in_how_to_log_in_hinders_no_other_command(yard: Yard) -> None:
    mistaken = {"name": "o", "url": "https://o.example", "auth": "oauth", "oauth": {"grant": 1}}
    yard.registry(servers=[mistaken], tools=[])
    done = toolyard("auth", "status", yard.file, env={"XDG_CONFIG_HOME": str(yard.root)})
    assert (done.code, done.out) == (0, "o: not logged in\n")


def test_every_problem_of_a_file_is_said_at_once_with_its_place(yard: Yard) -> None:
    yard.registry(
        schemaVersion="3",
        servers=[{"name": "u", "stdio": {"command": "x"}}, {"name": "v"}],
        tools=[
            {"name": "a", "server": "uu"},
            {"name": "b", "source": "c"},
            {"name": "c", "source": "b"},
        ],
    )
    done = toolyard("registry", "check", "--registry", yard.file)
    assert (done.code, done.out) == (2, "")
    places = [
        line.partition(": ")[0].removeprefix(f"{yard.file}#") for line in done.err.splitlines()
    ]
    assert places == [
        "/schemaVersion",
        "/servers/1",
        "/tools/0/server",
        "/tools/1/source",
        "/tools/2/source",
    ]
    assert 'did you mean "u"?' in done.err
    told = toolyard("registry", "check", "--json", "--registry", yard.file)
    assert told.code == 2
    assert [problem["pointer"] for problem in told.json["problems"]] == places


def test_what_only_a_server_reveals_is_found_by_asking_it(yard: Yard) -> None:
    tools = [{"name": "a", "server": "u", "originalName": "serch"}]
    yard.registry(servers=[yard.upstream("u", SEARCH)], tools=tools)
    assert toolyard("registry", "check", cwd=yard.root).code == 0
    done = toolyard("registry", "check", "--live", "--json", cwd=yard.root)
    assert done.code == 1
    reason = 'server u has no tool named "serch" (did you mean "search"?)'
    assert done.json["disabled"] == {"a": reason}
    # What it listed is kept: the next check knows without asking.
    assert toolyard("registry", "check", cwd=yard.root).code == 1


def test_a_server_that_does_not_start_is_named(yard: Yard) -> None:
    gone = {"name": "gone", "stdio": {"command": "/no/such/program"}}
    yard.registry(servers=[gone], tools=[{"name": "a", "server": "gone"}])
    done = toolyard("registry", "check", "--live", cwd=yard.root)
    assert done.code == 1
    assert done.err.startswith("server gone: ")


def test_a_command_without_a_registry_says_how_to_name_one(yard: Yard) -> None:
    done = toolyard("registry", "show", cwd=yard.root)
    assert (done.code, done.out) == (2, "")
    assert "--registry FILE" in done.err


def test_the_table_has_each_tool_with_its_source_and_both_sizes(searching: Yard) -> None:
    done = toolyard("registry", "show", cwd=searching.root, env={"SORT": "x"})
    rows = [line.split() for line in done.out.splitlines()]
    assert rows[0] == ["TOOL", "FROM", "CLIENT", "SOURCE"]
    assert [row[0] for row in rows[1:4]] == ["search", "count", "base"]
    assert rows[2][1:3] == ["u:", "search"]
    assert int(rows[2][3]) < int(rows[2][4])
    assert rows[3][-1] == "hidden"


def test_a_tool_is_shown_with_where_each_part_comes_from(searching: Yard) -> None:
    done = toolyard("registry", "show", "count", "--json", cwd=searching.root, env={"SORT": SECRET})
    shown = done.json
    assert shown["chain"] == ["count", "search", "u: search"]
    assert {part["name"]: part["place"] for part in shown["parts"]} == {
        "title": "u: search",
        "description": "registry.json#/tools/1",
        "inputSchema": "u: search",
        "outputSchema": "registry.json#/tools/1",
        "defaults.sort": "registry.json#/tools/1",
    }
    assert shown["client"]["inputSchema"]["properties"] == {"q": {"type": "string"}}
    assert shown["source"]["description"] == SEARCH["description"]
    assert shown["tokens"]["client"] == -(
        -len(json.dumps(shown["client"], separators=(",", ":"))) // 4
    )
    text = toolyard("registry", "show", "count", cwd=searching.root, env={"SORT": SECRET}).out
    assert "count -> search -> u: search" in text
    assert SECRET not in text + done.out


def test_a_tool_that_is_not_there_is_named_with_its_neighbour(searching: Yard) -> None:
    done = toolyard("registry", "show", "cuont", cwd=searching.root, env={"SORT": "x"})
    assert done.code == 2
    assert 'did you mean "count"?' in done.err


def test_an_explanation_has_every_stage_with_its_size_and_time(searching: Yard) -> None:
    arguments = json.dumps({"q": "x"})
    command = ("registry", "explain", "count", "--args", arguments)
    done = toolyard(*command, "--json", cwd=searching.root, env={"SORT": SECRET})
    assert done.code == 0
    stages = {stage["stage"]: stage for stage in done.json["stages"]}
    assert list(stages) == ["arguments", "with defaults", "result", "json", "projection", "shaped"]
    assert stages["with defaults"]["value"] == {"q": "x", "sort": "***"}
    assert stages["json"]["value"]["total"] == 2
    assert stages["projection"]["value"] == {"n": 2}
    assert stages["projection"]["bytes"] == 7
    assert stages["result"]["ms"] > 0
    assert searching.calls() == [["u", "search", {"q": "x", "sort": SECRET}]]
    text = toolyard(*command, cwd=searching.root, env={"SORT": SECRET})
    assert text.out.splitlines()[0].split() == ["STAGE", "BYTES", "TOKENS", "MS"]
    assert SECRET not in done.out + done.err + text.out + text.err


def test_an_explanation_of_a_refused_call_says_why_and_calls_nothing(searching: Yard) -> None:
    arguments = json.dumps({"q": "x", "sort": "mine"})
    done = toolyard(
        "registry", "explain", "count", "--args", arguments, cwd=searching.root, env={"SORT": "x"}
    )
    assert done.code == 1
    assert "unknown argument sort" in done.out
    assert searching.calls() == []


def test_an_explanation_of_a_composed_tool_has_its_steps(yard: Yard) -> None:
    steps = [
        {
            "id": "found",
            "operation": {"tool": {"name": "search"}},
            "input": {"input": {"path": "$"}},
        },
        {
            "id": "said",
            "operation": {"tool": {"name": "echo"}},
            "input": {
                "construct": {"fields": {"n": {"step": {"stepId": "found", "path": "$.total"}}}}
            },
        },
    ]
    yard.registry(
        servers=[yard.upstream("u", SEARCH, ECHO)],
        tools=[
            {"name": "search", "server": "u"},
            {"name": "echo", "server": "u"},
            {"name": "both", "spec": {"pipeline": {"steps": steps}}},
        ],
    )
    done = toolyard("registry", "explain", "both", "--args", '{"q": "x"}', "--json", cwd=yard.root)
    stages = {stage["stage"]: stage["value"] for stage in done.json["stages"]}
    assert list(stages) == [
        *("arguments", "with defaults", "search is given", "search returns"),
        *("echo is given", "echo returns", "result"),
    ]
    assert stages["echo is given"] == {"n": 2}


def test_a_file_is_converted_and_what_is_lost_is_listed(searching: Yard) -> None:
    done = toolyard("registry", "convert", searching.file, "--to", "agentgateway")
    assert done.code == 0
    by_name = {tool["name"]: tool for tool in done.json["tools"]}
    assert by_name["count"]["source"] == {
        "target": "u",
        "tool": "search",
        "defaults": {"sort": "${SORT}"},
    }
    assert done.err == f"{searching.file}#/tools/2/hidden: not expressed there\n"
    back = searching.write("theirs.json", done.out)
    native = toolyard("registry", "convert", back, "--to", "native").json
    assert [tool["name"] for tool in native["tools"]] == ["search", "count", "base"]
    assert native["tools"][1]["defaults"] == {"sort": "${SORT}"}


def test_a_file_of_servers_becomes_native_and_goes_back(yard: Yard) -> None:
    servers = {"g": {"command": "x", "args": ["-y"], "env": {"T": "${TOKEN}"}}}
    path = yard.write("mcp.json", {"mcpServers": servers})
    native = toolyard("registry", "convert", path).json
    assert native["servers"][0]["expose"] == "all"
    native_file = yard.write("native.json", native)
    out = yard.root / "back.json"
    done = toolyard("registry", "convert", native_file, "--to", "mcp-servers", "--out", out)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert json.loads(out.read_text()) == {"mcpServers": servers}


def test_show_says_what_each_view_costs_and_what_a_model_reads(searching: Yard) -> None:
    sort = {"SORT": "x"}
    shown = toolyard("registry", "show", "--view", "index", "--json", cwd=searching.root, env=sort)
    report = json.loads(shown.out)
    assert [cost["view"] for cost in report["views"]] == ["full", "index", "search"]
    assert report["tools"][0]["description"].endswith("u: search count")
    text = toolyard("registry", "show", "--budget", "100000", cwd=searching.root, env=sort).out
    rows = [line.split() for line in text.splitlines()[:4]]
    assert rows[0] == ["VIEW", "TOOLS", "TOKENS", "SAVED"]
    # The meta tools are longer than these few.
    assert [row[-1] for row in rows[1:]] == ["0%", "none", "none"]
    assert "What a model reads in view full" in text and "Count repositories." in text


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [(["--view", "serach"], 'did you mean "search"'), (["--budget", "9"], "too small")],
)
def test_show_refuses_a_view_or_budget_that_cannot_be(
    searching: Yard, flags: list[str], complaint: str
) -> None:
    done = toolyard("registry", "show", *flags, cwd=searching.root)
    assert done.code == 2 and complaint in done.err
