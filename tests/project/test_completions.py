"""Who completes what, what a script is told, and what its answers become."""

import hashlib
import json
import logging
from typing import Any

import pytest

from tests.project.conftest import Folder, call, refused, source_of
from toolyard.catalog.entries import Completion
from toolyard.errors import INTERNAL_ERROR, INVALID_PARAMS
from toolyard.scripts.running.runner import Runner

PROMPT = {"type": "ref/prompt", "name": "demo"}


def registered(folder: Folder, body: str, **more: Any) -> None:
    folder.script("completions/suggest.sh", body)
    item = {"name": "demo", "path": "completions/suggest.sh", **more}
    folder.write("server.d/register.json", {"version": 1, "completions": [item]})


def completion_in(folder: Folder, runner: Runner) -> Completion:
    entries = source_of(folder, runner).read()
    assert entries.warnings == ()
    return entries.completions[0]


def query(value: str = "", **more: Any) -> dict[str, Any]:
    return {"ref": PROMPT, "argument": {"name": "query", "value": value}, **more}


async def complete(folder: Folder, runner: Runner, **more: Any) -> Any:
    completion = completion_in(folder, runner)
    return (await call(completion.target, query(**more)))["completion"]


async def test_a_registered_script_is_told_what_is_asked(folder: Folder, runner: Runner) -> None:
    registered(
        folder,
        """printf '["%s","%s","%s","%s"]' "$MCP_COMPLETION_NAME" "$MCP_COMPLETION_LIMIT" \\
        "$MCP_COMPLETION_OFFSET" "$MCP_COMPLETION_ARGS_HASH"
        printf %s "$MCP_COMPLETION_ARGS_JSON" >args.json; pwd >cwd\n""",
    )
    context = {"arguments": {"lang": "de"}}
    found = await complete(folder, runner, value="re", limit=7, context=context)
    told = json.loads((folder.root / "args.json").read_text())
    assert told == {
        "query": "re",
        "prefix": "re",
        "argument": {"name": "query", "value": "re"},
        "context": context,
        "ref": PROMPT,
    }
    canonical = json.dumps(told, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    assert found == {"values": ["demo", "7", "0", digest], "hasMore": False}
    assert (folder.root / "cwd").read_text() == f"{folder.root}\n"


@pytest.mark.parametrize(
    "printed, expected",
    [
        ("", {"values": [], "hasMore": False}),
        ('["a","b"]', {"values": ["a", "b"], "hasMore": False}),
        ('{"suggestions": ["a"]}', {"values": ["a"], "hasMore": False}),
        ('{"values": ["a"], "hasMore": false}', {"values": ["a"], "hasMore": False}),
        ('{"completion": {"values": ["a"]}}', {"values": ["a"], "hasMore": False}),
    ],
)
async def test_both_forms_of_output_are_understood(
    folder: Folder, runner: Runner, printed: str, expected: Any
) -> None:
    registered(folder, f"printf %s '{printed}'\n")
    assert await complete(folder, runner) == expected


@pytest.mark.parametrize("printed", ["rubbish", "[1]", '"a"', '{"suggestions": "a"}', "null"])
async def test_rubbish_is_an_error_that_names_the_script_in_the_log(
    folder: Folder, runner: Runner, printed: str, caplog: pytest.LogCaptureFixture
) -> None:
    registered(folder, f"printf %s '{printed}'\n")
    with caplog.at_level(logging.WARNING):
        error = await refused(completion_in(folder, runner).target, query())
    message = "Completion provider emitted invalid JSON"
    assert (error.code, error.message) == (INTERNAL_ERROR, message)
    assert caplog.messages == [f"{folder.root}/completions/suggest.sh: {message}"]


async def test_a_script_that_fails_or_hangs_is_an_error(folder: Folder, runner: Runner) -> None:
    registered(folder, "exit 1\n")
    error = await refused(completion_in(folder, runner).target, query())
    assert (error.code, error.message) == (INTERNAL_ERROR, "Completion provider failed")
    registered(folder, "echo oh >&2; exit 1\n")
    assert (await refused(completion_in(folder, runner).target, query())).message == "oh"
    registered(folder, "exec sleep 60\n", timeoutSecs=0.1)
    hung = await refused(completion_in(folder, runner).target, query())
    assert hung.message == "Completion timed out after 0.1s"


async def test_pages_follow_one_another_by_cursor(folder: Folder, runner: Runner) -> None:
    registered(
        folder,
        """all=(a b c d e); page=("${all[@]:MCP_COMPLETION_OFFSET:MCP_COMPLETION_LIMIT}")
        more=$(( MCP_COMPLETION_OFFSET + ${#page[@]} < 5 ))
        printf -v list '"%s",' "${page[@]}"
        words=(false true)
        printf '{"suggestions":[%s],"hasMore":%s}' "${list%,}" "${words[more]}"
        """,
    )
    target = completion_in(folder, runner).target
    seen, cursor = [], None
    while True:
        more: dict[str, Any] = {"cursor": cursor} if cursor else {}
        page = (await call(target, query(limit=2, **more)))["completion"]
        seen.append(page["values"])
        cursor = page.get("nextCursor")
        if not page["hasMore"]:
            break
    assert seen == [["a", "b"], ["c", "d"], ["e"]]
    assert cursor is None


async def test_the_script_may_name_the_next_offset_or_make_its_own_cursor(
    folder: Folder, runner: Runner
) -> None:
    registered(
        folder,
        """case "$MCP_COMPLETION_CURSOR/$MCP_COMPLETION_OFFSET" in
        /0) echo '{"suggestions":["a"],"hasMore":true,"next":10}';;
        /10) echo '{"suggestions":["b"],"hasMore":true,"next":3,"cursor":"mine"}';;
        mine/0) echo '["c"]';;
        esac
        """,
    )
    target = completion_in(folder, runner).target
    first = (await call(target, query()))["completion"]
    second = (await call(target, query(cursor=first["nextCursor"])))["completion"]
    assert (second["values"], second["nextCursor"]) == (["b"], "mine")
    third = (await call(target, query(cursor="mine")))["completion"]
    assert third == {"values": ["c"], "hasMore": False}


async def test_a_cursor_that_is_not_ours_or_of_another_query_is_refused(
    folder: Folder, runner: Runner
) -> None:
    registered(folder, """echo '{"suggestions":["a"],"hasMore":true}'\n""")
    target = completion_in(folder, runner).target
    cursor = (await call(target, query("x")))["completion"]["nextCursor"]
    for wrong in ("nonsense", 3, "", "e30"):
        error = await refused(target, query("x", cursor=wrong))
        assert (error.code, error.message) == (INVALID_PARAMS, "Invalid cursor")
    other = await refused(target, query("y", cursor=cursor))
    assert (other.code, other.message) == (INVALID_PARAMS, "Cursor no longer valid")


async def test_no_more_than_a_hundred_values_are_sent_and_the_rest_can_be_had(
    folder: Folder, runner: Runner
) -> None:
    registered(folder, "printf '['; printf '\"%s\",' {1..149}; printf '\"150\"]'\n")
    page = await complete(folder, runner, limit=500)
    assert (len(page["values"]), page["hasMore"]) == (100, True)
    assert "nextCursor" in page


async def test_a_script_beside_a_prompt_completes_it_and_knows_it(
    folder: Folder, runner: Runner
) -> None:
    prompt = folder.write("prompts/sub/demo.txt", "{{query}}")
    folder.script(
        "prompts/sub/demo.completion.sh",
        'printf \'["%s","%s"]\' "$MCP_PROMPT_REL_PATH" "$MCP_PROMPT_PATH"\n',
    )
    completion = completion_in(folder, runner)
    assert completion.ref == "demo"
    found = (await call(completion.target, query()))["completion"]
    assert found["values"] == ["sub/demo.txt", str(prompt)]


async def test_a_script_beside_a_template_completes_it_by_its_uri(
    folder: Folder, runner: Runner
) -> None:
    folder.write("resources/t.meta.json", {"uriTemplate": "db:{id}"})
    folder.write("resources/r.txt", "text")
    for name in ("t", "r"):
        folder.script(f"resources/{name}.completion.sh", 'printf \'["%s"]\' "$MCP_RESOURCE_URI"\n')
    completions = source_of(folder, runner).read().completions
    assert [each.ref for each in completions] == [
        f"file://{folder.root}/resources/r.txt",
        "db:{id}",
    ]
    found = (await call(completions[1].target, query()))["completion"]
    assert found["values"] == ["db:{id}"]


async def test_values_that_a_schema_lists_are_offered_and_nothing_is_invented(
    folder: Folder, runner: Runner
) -> None:
    properties = {
        "tone": {"enum": ["warm", "Warmer", "cold", 3]},
        "kind": {"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]},
        "sure": {"type": "boolean"},
        "free": {"type": "string"},
    }
    folder.write("prompts/demo.txt", "")
    folder.write("prompts/demo.meta.json", {"arguments": {"properties": properties}})
    target = completion_in(folder, runner).target

    async def values(name: str, value: str, **more: Any) -> Any:
        params = {"ref": PROMPT, "argument": {"name": name, "value": value}, **more}
        return (await call(target, params))["completion"]

    assert await values("tone", "wa") == {
        "values": ["warm", "Warmer"],
        "hasMore": False,
        "total": 2,
    }
    assert (await values("tone", ""))["values"] == ["warm", "Warmer", "cold", "3"]
    assert (await values("kind", ""))["values"] == ["a", "b"]
    assert (await values("sure", "t"))["values"] == ["true"]
    assert (await values("free", "x"))["values"] == []
    first = await values("tone", "", limit=3)
    assert (await values("tone", "", limit=3, cursor=first["nextCursor"]))["values"] == ["3"]


async def test_by_hand_comes_before_beside_and_beside_before_the_schema(
    folder: Folder, runner: Runner
) -> None:
    registered(folder, "echo '[\"by hand\"]'\n")
    folder.write("prompts/demo.txt", "")
    folder.write("prompts/demo.meta.json", {"arguments": {"properties": {"a": {"enum": ["x"]}}}})
    folder.script("prompts/demo.completion.sh", "echo '[\"beside\"]'\n")
    completions = source_of(folder, runner).read().completions
    assert [each.ref for each in completions] == ["demo"] * 3
    said = [(await call(each.target, query()))["completion"]["values"] for each in completions[:2]]
    assert said == [["by hand"], ["beside"]]
