"""The path reader of the SDK against jq, and what it hands to the JSON tool."""

import json
import subprocess
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.sdk.sandbox import BASH, JQ, PRELUDE, SDK, Sandbox

pytestmark = pytest.mark.long

needs_jq = pytest.mark.skipif(JQ is None, reason="jq is not installed: nothing to compare with")

DOCUMENT = {
    "name": 'Jörg "J" \\ \n\t\b\f/ 😀',
    "empty": "",
    "list": [1, -2.5, {"deep": [True, None, "x"]}],
    "object": {"a": {"b": {"c": 3}}, "key with space": 1, "dotted.key": 2},
    "yes": True,
    "no": False,
    "nothing": None,
    "none": {},
    "zero": [],
}
FILTERS = [
    ".",
    ".name",
    ".empty",
    ".list",
    ".list[0]",
    ".list[1]",
    ".list[2].deep[2]",
    ".list[2].deep[1]",
    ".list[9]",
    ".object.a.b",
    ".object.a.b.c",
    '.object["key with space"]',
    '.object."dotted.key"',
    '.["name"]',
    ".none",
    ".zero",
    ".missing",
    ".missing.deeper",
    ".nothing.deeper[3]",
    ".yes",
    ".no",
    '.name // "World"',
    '.missing // "World"',
    '.missing//"a // b"',
    ".missing // .object.a.b.c",
    ".missing // .nothing // .list[0]",
    ".no // true",
    ".missing // false",
    ".missing // null",
    ".missing // 12",
    ".missing // -1.5",
    ".missing // []",
    ".missing // {}",
    ".missing // empty",
    '(.missing // .nothing // "")',
    '.empty // "never"',
    # beyond the reader: the tool answers
    ".list | length",
    ".list[]",
    ".object | keys",
    '.missing // "a" | length',
    ".list[-1].deep",
    "[.list[0], .yes]",
    ".list[1:]",
]


@needs_jq
@pytest.mark.parametrize("escaped", [False, True], ids=["utf8", "escapes"])
def test_every_filter_prints_what_jq_prints(sandbox: Sandbox, escaped: bool) -> None:
    document = json.dumps(DOCUMENT, ensure_ascii=escaped)
    script = 'while IFS= read -r f; do mcp_args_get "$f"; echo "--"; done <<<"$FILTERS"'
    ran = sandbox.run(script, MCP_TOOL_ARGS_JSON=document, FILTERS="\n".join(FILTERS))
    printed = ran.out.split("--\n")[:-1]
    for given_filter, ours in zip(FILTERS, printed, strict=True):
        assert comparable(ours) == comparable(jq(given_filter, document)), given_filter


def jq(given_filter: str, document: str) -> str:
    command = [str(JQ), "-rc", given_filter]
    return subprocess.run(command, input=document, capture_output=True, text=True).stdout


def comparable(printed: str) -> Any:
    """Nested values may differ in how a string is escaped, not in what it says."""
    try:
        return [json.loads(line) for line in printed.splitlines()]
    except ValueError:
        return printed


def test_a_path_into_a_string_fails_and_says_where(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_args_get .name.first", {"name": "x"})
    assert (ran.out, ran.code) == ("", 5)
    assert ".name.first" in ran.err


def test_an_alternative_also_stands_for_a_path_that_leads_nowhere(sandbox: Sandbox) -> None:
    assert sandbox.run("""mcp_args_get '.name.x // "other"'""", {"name": "x"}).out == "other\n"


@pytest.mark.parametrize(
    ("escape", "expected"),
    [
        ("\\u00e9", "é"),
        ("\\u20AC", "€"),
        ("\\ud83d\\ude00!", "😀!"),
        ("\\ud83d", "\ufffd"),
        ("\\ude00x", "\ufffdx"),
        ("\\ud83d\\u0041", "\ufffdA"),
        ("a\\u0000b", "ab"),
        ("\\u0002\\u0003", "\x02\x03"),
        ("\\u005cn\\u0022", '\\n"'),
        ("\\\\u0041", "\\u0041"),
        ('\\\\\\\\\\"\\\\n', '\\\\"\\n'),
        ("\\/\\b\\f\\r\\t", "/\b\f\r\t"),
        ("& \\\\&", "& \\&"),
    ],
)
def test_escapes_are_decoded(sandbox: Sandbox, escape: str, expected: str) -> None:
    ran = sandbox.run(
        'x=$(mcp_args_get .s; echo .); printf "%s" "${x%??}"',
        MCP_TOOL_ARGS_JSON=f'{{"s":"{escape}"}}',
    )
    assert ran.out == expected


def test_keys_are_compared_after_their_escapes(sandbox: Sandbox) -> None:
    document = '{"\\u0061":1,"b\\"":2,"a":3,"ö":4}'
    ran = sandbox.run("""mcp_args_get .a; mcp_args_get '.["ö"]'""", MCP_TOOL_ARGS_JSON=document)
    assert ran.out == "3\n4\n"


@pytest.mark.parametrize("ifs", ["$'\\n\\t'", "x", "''"])
def test_the_scripts_own_ifs_and_globbing_are_left_alone(sandbox: Sandbox, ifs: str) -> None:
    (sandbox.project / "file").touch()
    script = f"""IFS={ifs}; before=$IFS
    mcp_args_get .list; mcp_args_get '.star'; mcp_result_success '{{"a":"*"}}' >/dev/null
    [ "$IFS" = "$before" ]; case $- in *f*) exit 3;; esac"""
    ran = sandbox.run(script, {"list": [1, "a b"], "star": "*"})
    assert (ran.out, ran.code) == ('[1,"a b"]\n*\n', 0)


def test_a_long_string_full_of_escapes_arrives_whole(sandbox: Sandbox) -> None:
    text = 'line "quoted" \\ é\n' * 9000
    path = sandbox.folder / "arguments"
    path.write_text(json.dumps({"text": text}))
    ran = sandbox.run("mcp_args_get .text", MCP_TOOL_ARGS_JSON="", MCP_TOOL_ARGS_FILE=str(path))
    assert ran.out.rstrip("\n") == text.rstrip("\n")


KEYS = st.sampled_from(["a", "b", "key", "ö", "with space"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
STEPS = st.lists(KEYS | st.integers(0, 3), min_size=1, max_size=4)


def path_of(steps: list[str | int]) -> str:
    return "." + "".join(f"[{json.dumps(step, ensure_ascii=False)}]" for step in steps)


@needs_jq
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(VALUES, STEPS, st.booleans(), st.sampled_from([None, 1])), min_size=8))
def test_random_documents_are_read_as_jq_reads_them(
    cases: list[tuple[Any, list[str | int], bool, int | None]],
) -> None:
    """Many cases a process: starting one costs more than reading one."""
    documents = [json.dumps(v, ensure_ascii=a, indent=i) for v, _, a, i in cases]
    filters = [path_of(steps) + " // ." for _, steps, _, _ in cases]
    script = PRELUDE + (
        "while [ $# -gt 0 ]; do MCP_TOOL_ARGS_JSON=$1\n"
        'mcp_args_get "$2"; printf "\\0"; shift 2; done'
    )
    arguments = [text for pair in zip(documents, filters, strict=True) for text in pair]
    env = {"MCP_SDK": str(SDK), "PATH": "/nonexistent", "LANG": "C.UTF-8"}
    command = [BASH, "-c", script, "bash", *arguments]
    done = subprocess.run(command, capture_output=True, env=env)
    assert done.stderr == b""
    printed = done.stdout.decode().split("\0")[:-1]
    for (value, steps, _, _), ours in zip(cases, printed, strict=True):
        expected = looked_up(value, steps)
        shown = ours[:-1] if isinstance(expected, str) else json.loads(ours)
        assert shown == expected
    # jq 1.6 fails where the alternative stands for a path that leads nowhere.
    if by_jq := jq(filters[0], documents[0]):
        assert comparable(printed[0]) == comparable(by_jq)


def looked_up(value: Any, steps: list[str | int]) -> Any:
    found = value
    for step in steps:
        if isinstance(found, dict) and isinstance(step, str):
            found = found.get(step)
        elif isinstance(found, list) and isinstance(step, int):
            found = found[step] if step < len(found) else None
        else:
            return value
    return found if found is not None and found is not False else value
