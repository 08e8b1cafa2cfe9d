"""A project written for mcp-bash that calls every function of its script library, by both names."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.hooks.library import PROJECT, Served, served
from tests.peers.serving import ROOT

pytestmark = pytest.mark.asyncio(loop_scope="module")
SDK = ROOT / "src" / "toolyard" / "sdk"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["toolyard", "mcp-bash"])
async def library(request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    async with served(request.param) as library:
        yield library


async def test_the_project_calls_every_function_that_is_documented_or_defined() -> None:
    scripts = "".join(path.read_text() for path in PROJECT.rglob("*.sh"))
    called = set(re.findall(r"\bmcp_[a-z_]+", scripts))
    documented = set(re.findall(r"`(mcp_[a-z_]+)", (ROOT / "docs" / "sdk.md").read_text()))
    shells = [SDK / "tool-sdk.sh", SDK / "ui-sdk.sh", *SDK.glob("parts/*.sh")]
    defined = {
        name
        for path in shells
        for name in re.findall(r"^(mcp_[a-z_]+)\(\)", path.read_text(), re.MULTILINE)
    }
    assert documented - called == set()
    assert (defined - called, defined - documented) == (set(), set())


async def test_arguments_are_read(library: Served) -> None:
    arguments = {"name": "Ann", "times": 3, "loud": True}
    result = await library.client.call("read", arguments, meta={"trace": "t-1"})
    assert result["structuredContent"]["result"] == {
        "name": "Ann",
        "times": "3",
        "loud": "true",
        "word": "hello",
        "none": "nothing",
        "raw": json.dumps(arguments, separators=(",", ":")),
        "trace": "t-1",
        "meta": '{"trace":"t-1"}',
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Who is it?"),
        ({"name": "Ann", "times": 9}, "times must be at most 5, not 9"),
        ({"name": "Ann", "loud": "perhaps"}, "loud must be true or false, not: perhaps"),
    ],
)
async def test_arguments_that_do_not_do_end_the_script(
    library: Served, arguments: dict[str, Any], message: str
) -> None:
    params = {"name": "read", "arguments": arguments}
    error = await library.client.error("tools/call", params)
    assert error == {"code": -32602, "message": message}


async def test_a_script_without_options_of_its_own_stops_at_a_missing_argument(
    library: Served,
) -> None:
    error = await library.client.error("tools/call", {"name": "careless", "arguments": {}})
    assert error == {"code": -32602, "message": "Missing required argument: path"}
    assert not (library.project / "written").exists()


async def test_json_is_written(library: Served) -> None:
    assert await library.given("write") == {
        "string": '"a \\"b\\""',
        "array": '["x","y \\"z\\""]',
        "valid": "yes",
        "bytes": "2",
        "short": '{"result":{"items":["aaaa"],"n":1},"truncated":true,"kept":1,"total":2}',
        "never": '{"error":{"type":"invalid_array_path","message":"Not an array: .n"},'
        '"result":null}',
    }


async def test_paths_keep_to_the_roots(library: Served) -> None:
    root = str(library.project)
    asked = {"roots": [{"uri": library.project.as_uri(), "name": "here"}]}
    told = {"count": "1", "list": root, "etc": "no"}
    told["asked"] = json.dumps(asked, separators=(",", ":"))
    assert await library.given("paths") == {"path": root, **told}
    assert await library.given("paths", path="new/../file") == {"path": f"{root}/file", **told}
    error = await library.client.error(
        "tools/call", {"name": "paths", "arguments": {"path": "../x"}}
    )
    outside = f"{library.project.parent}/x"
    assert error == {"code": -32602, "message": f"Path is outside the allowed roots: {outside}"}


async def test_progress_and_logs_are_sent_while_it_runs(library: Served) -> None:
    client, before = library.client, len(library.client.notifications)
    result = await client.call("say", {"note": "this"}, meta={"progressToken": "p"})
    assert result["content"] == [{"type": "text", "text": "said"}]
    said = [one for one in client.notifications[before:] if "list_changed" not in one["method"]]
    progress = [one["params"] for one in said if one["method"].endswith("progress")]
    assert progress == [
        {"progressToken": "p", "progress": 1, "total": 2, "message": "first"},
        {"progressToken": "p", "progress": 2, "total": 2, "message": "second"},
    ]
    assert [one["params"] for one in said if one["method"].endswith("message")] == [
        {"level": "info", "logger": "own", "data": "for information"},
        {"level": "warning", "logger": "say", "data": "beware"},
        {"level": "error", "logger": "own", "data": "alas"},
        {"level": "notice", "logger": "own", "data": {"n": 1}},
    ]
    noted = (library.project / "debug.log").read_text()
    assert re.fullmatch(r"\[say \+\ds\] noted this\n", noted)


def error_result(text: str, error: Any) -> dict[str, Any]:
    return {
        "name": "give",
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"success": False, "error": error},
        "isError": True,
        "_meta": {"exitCode": 0},
    }


def success(text: str, structured: Any) -> dict[str, Any]:
    result = {"name": "give", "content": [{"type": "text", "text": text}], "isError": False}
    result["_meta"] = {"exitCode": 0}
    return result if structured is None else {**result, "structuredContent": structured}


SUMMARY = "Success: an array of 3 items, too long for the text; structuredContent has all of it."
NOT_JSON = "mcp_result_success: the data is not a single JSON value"
RESULTS: dict[str, dict[str, Any]] = {
    "text": success('plain "text"', None),
    "json": success('{"n":[1,2]}', {"n": [1, 2]}),
    "success": success('{"success":true,"result":{"n":1}}', {"success": True, "result": {"n": 1}}),
    "long": success(SUMMARY, {"success": True, "result": [1, 2, 3]}),
    "bad": error_result(
        NOT_JSON, {"type": "invalid_json", "message": NOT_JSON, "raw": "not {json"}
    ),
    "error": error_result(
        'No "x"',
        {
            "type": "not_found",
            "message": 'No "x"',
            "hint": "Look at y",
            "data": {"_invalid_json": "not json"},
        },
    ),
    "result": error_result("all gone", {"type": "quota", "message": "all gone"}),
    "words": error_result(
        "it broke", {"type": "internal_error", "message": "it broke", "raw": "it broke"}
    ),
}


@pytest.mark.parametrize("how", RESULTS)
async def test_a_result_is_as_its_function_says(library: Served, how: str) -> None:
    assert await library.call("give", how=how) == RESULTS[how]


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("fail", {"code": -32050, "message": "it failed", "data": {"why": "asked to"}}),
        ("arguments", {"code": -32602, "message": "no such thing"}),
    ],
)
async def test_a_failure_is_an_error_of_the_protocol(
    library: Served, how: str, error: dict[str, Any]
) -> None:
    params = {"name": "give", "arguments": {"how": how}}
    assert await library.client.error("tools/call", params) == error


async def test_files_are_embedded_from_the_roots_alone(library: Served) -> None:
    before = len(library.client.notifications)
    result = await library.call("give", how="files")
    inside = {"uri": "own://inside", "mimeType": "text/markdown", "text": "inside\n"}
    structured = {"success": True, "result": {"files": 2}}
    expected = success('{"success":true,"result":{"files":2}}', structured)
    expected["content"].append({"type": "resource", "resource": inside})
    assert result == expected
    missing = f"{library.project}/missing.txt"
    warned = [one["params"] for one in library.client.notifications[before:]]
    assert warned == [
        {
            "level": "warning",
            "data": "/etc/hostname is outside the allowed roots",
            "logger": "give",
        },
        {
            "level": "warning",
            "data": f"{missing} cannot be read: No such file or directory",
            "logger": "give",
        },
    ]


RED_GREEN = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]
FORMS: dict[str, tuple[str, dict[str, Any], list[str], dict[str, Any]]] = {
    "form": ("Fill in", {"age": {"type": "integer"}}, [], {"age": 7}),
    "string": ("Who?", {"name": {"type": "string"}}, ["name"], {"name": "Ann"}),
    "confirm": ("Sure?", {"confirmed": {"type": "boolean"}}, ["confirmed"], {"confirmed": True}),
    "choice": (
        "Which?",
        {"choice": {"type": "string", "enum": ["red", "green"]}},
        ["choice"],
        {"choice": "red"},
    ),
    "titled": (
        "Which?",
        {"choice": {"type": "string", "oneOf": RED_GREEN}},
        ["choice"],
        {"choice": "g"},
    ),
    "multi": (
        "Which ones?",
        {"choices": {"type": "array", "items": {"type": "string", "enum": ["red", "green"]}}},
        ["choices"],
        {"choices": ["green"]},
    ),
    "titled-multi": (
        "Which ones?",
        {"choices": {"type": "array", "items": {"anyOf": RED_GREEN}}},
        ["choices"],
        {"choices": ["r", "g"]},
    ),
}


@pytest.mark.parametrize("kind", FORMS)
async def test_a_form_is_asked_and_its_answer_comes_back(library: Served, kind: str) -> None:
    message, properties, required, content = FORMS[kind]
    answer = {"action": "accept", "content": content}
    library.client.answers["elicitation/create"] = answer
    assert (await library.call("ask", kind=kind))["structuredContent"] == answer
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    asked = {"mode": "form", "message": message, "requestedSchema": schema}
    assert library.client.questions[-1]["params"] == asked


async def test_a_visit_to_a_page_is_asked_for(library: Served) -> None:
    library.client.answers["elicitation/create"] = {"action": "accept"}
    assert (await library.call("ask", kind="url"))["structuredContent"] == {"action": "accept"}
    asked = library.client.questions[-1]["params"]
    assert asked.pop("elicitationId")
    assert asked == {"mode": "url", "message": "Log in", "url": "https://example.com/login"}


async def test_the_model_of_the_client_is_asked(library: Served) -> None:
    reply = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "words"}}
    library.client.answers["sampling/createMessage"] = reply
    assert (await library.call("ask", kind="sample"))["structuredContent"] == reply
    spoken = {"role": "user", "content": {"type": "text", "text": "Say something"}}
    asked = {"messages": [spoken], "maxTokens": 5, "systemPrompt": "Be brief"}
    assert library.client.questions[-1]["params"] == asked
    text = await library.call("ask", kind="sample-text")
    assert text["content"] == [{"type": "text", "text": "words"}]


async def test_programs_are_run(library: Served) -> None:
    before = len(library.client.notifications)
    result = await library.client.call("run", {}, meta={"progressToken": 7})
    assert result["structuredContent"]["result"] == {
        "retried": "third time",
        "counted": "counted",
        "dry": '{"progress":5,"message":"5%"}',
        "errors": "trouble",
        "download": '{"success":false,"error":{"type":"host_blocked",'
        '"message":"An address is not a host name: 127.0.0.1"}}',
        "deep": "inner",
        "last": "CLI exited with code 4",
    }
    assert [one["params"] for one in library.client.notifications[before:]] == [
        {"progressToken": 7, "progress": 50, "total": 100, "message": "done 1/2"},
        {"progressToken": 7, "progress": 100, "total": 100, "message": "done 2/2"},
    ]


async def test_a_download_that_must_work_fails_the_call(library: Served) -> None:
    params = {"name": "run", "arguments": {"download": "fail"}}
    assert await library.client.error("tools/call", params) == {
        "code": -32602,
        "message": "Download failed: Only https:// is allowed: http://example.com/x",
    }


async def test_configuration_is_merged(library: Served) -> None:
    told = await library.given("configured")
    assert json.loads(told.pop("all")) == {
        "host": "example",
        "size": "large",
        "port": 2,
        "colour": "variable",
        "deep": {"of": "example"},
    }
    assert told == {"colour": "variable", "none": "nothing"}


PAGE = {"ui": {"resourceUri": "ui://library/board"}}


async def test_pages_are_shown_with_results(library: Served) -> None:
    text = [{"type": "text", "text": "shown: yes"}]
    result = await library.call("page", how="ui")
    assert (result["content"], result["_meta"]) == (text, {"exitCode": 0, **PAGE})
    result = await library.call("page", how="data")
    assert (result["content"], result["structuredContent"]) == (text, {"cards": 3})
    told = await library.given("page")
    assert {name: json.loads(value) for name, value in told.items()} == {
        "form": {
            "template": "form",
            "config": {"title": "Title", "fields": [{"name": "a"}], "submitTool": "submit"},
        },
        "table": {
            "template": "data-table",
            "config": {"title": "Title", "columns": [{"key": "a"}], "rows": [{"a": 1}]},
        },
        "tool": {"ui": {"resourceUri": "ui://library/board", "visibility": ["model"]}},
    }


async def test_a_policy_reads_what_a_tool_says_of_itself(library: Served) -> None:
    params = {"name": "erase", "arguments": {}}
    assert await library.client.error("tools/call", params) == {
        "code": -32001,
        "message": "not without asking",
        "data": {"tool": 'Erases "all"'},
    }
    assert not (library.project / "written").exists()


@pytest.mark.parametrize("command", ["toolyard", "mcp-bash"])
async def test_a_client_that_can_do_nothing_gets_what_is_left(command: str) -> None:
    async with served(command, capabilities={}, answers={}) as library:
        for kind in (*FORMS, "url"):
            assert (await library.call("ask", kind=kind))["structuredContent"] == {
                "action": "decline"
            }
        failed = await library.call("ask", kind="sample-text")
        assert (failed["isError"], failed["_meta"]["exitCode"]) == (True, 1)
        result = await library.call("page", how="ui")
        assert result == {
            "name": "page",
            "content": [{"type": "text", "text": "shown: no"}],
            "isError": False,
            "_meta": {"exitCode": 0},
        }
        told = await library.given("paths")
        roots = [{"uri": library.project.as_uri(), "name": "library", "path": str(library.project)}]
        assert json.loads(told["asked"]) == {"roots": roots}
