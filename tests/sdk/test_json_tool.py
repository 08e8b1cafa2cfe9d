"""json-tool, the stand-in for jq, compared with jq where that is installed."""

import json
import subprocess
import sys

import pytest

from tests.sdk.sandbox import JQ, JSON_TOOL, Sandbox

pytestmark = pytest.mark.long

DOCUMENT = """{"a":{"b":[1,2.5,{"c":"x y"}],"d":null},"s":"Grüße \\"q\\"","n":-3,"t":true,"f":false,
"e":[],"people":[{"name":"Bo","age":3},{"name":"Al","age":7},{"name":"Cy","age":3}],
"o":{"z":1,"y":"two"},"j":"{\\"k\\":[1]}"}"""

FILTERS = """.
.a.b
.a.b[0]
.a.b[-1].c
.a["b"][1]
.a."d"
.["s"]
.missing
.missing.x
.missing // "default"
.f // .t
.a.b[]
.a.b[1:]
.s[0:3]
.e[]
.people[].name
.people | length
[.people[].age] | add
.o | keys
.o | length, type
.s | length
.n | length
keys
.o | has("z"), has("q")
.people | map(.age + 1)
.people | map(select(.age == 3)) | length
.people[] | select(.name == "Al") | .age
.people | sort_by(.name) | map(.name)
.people | group_by(.age) | map(length)
.people | map(.age) | unique, min, max, (sort | reverse)
.people | unique_by(.age) | map(.name) | join(",")
.o | to_entries
.o | with_entries(.value |= tostring)?
.o | with_entries(select(.key == "z"))
.j | fromjson | .k
.o | tojson
.o | tostring, (.z | tostring)
.o | @json
"\\(.s) is \\(.n + 1)"
"a \\(.missing // "none") b"
@text "x\\(.o)"
.s | @uri, @base64, @html, @sh
.people | map([.name, .age])[] | @csv, @tsv
{a: .n, "b c": .t, (.o.y): 1, s}
{n, list: [.people[].name]}
[.n, .t, null]
[.people[] | {name, old: (.age > 5)}]
if .t then "yes" else "no" end
if .f then 1 elif .n < 0 then 2 else 3 end
.t and .f, (.t or .f), (.f | not)
.n * 2, .n - 1, 7 % 3, 1 + 2 * 3
10 / 4, 10 / 5
.o + {"x": 1}
.a * {"b": 0, "q": {"r": 1}} | keys
[1,2,3] - [2]
.s | split(" ") | last
.s | startswith("G"), endswith("q"), contains("ü"), ltrimstr("Gr")
.s | ascii_downcase
"5" | tonumber + 1
.a.b | first, last
.n as $x | .people | map(.age + $x)
$v, $w.k
[.people[] | .age] | any(. > 5), all(. > 5)
.o | map_values(1)?
[range(3)]
.n == -3, .n != -3, .n <= 0, "a" < "b"
[..|numbers?]?
.people | .[0] | .name
.a?.b?[0]
.s.x?
first(.people[].name)
empty
.o | to_entries | from_entries
. | .n""".splitlines()

BEYOND = {
    ".o | with_entries(.value |= tostring)?",
    ".o | map_values(1)?",
    "[..|numbers?]?",
}


def run(program: str, *arguments: str, text: str = DOCUMENT) -> tuple[str, int]:
    done = subprocess.run(
        [program, *arguments], input=text, capture_output=True, text=True, timeout=60
    )
    return done.stdout, done.returncode


def both(*arguments: str, text: str = DOCUMENT) -> tuple[tuple[str, int], tuple[str, int]]:
    return run(str(JSON_TOOL), *arguments, text=text), run(str(JQ), *arguments, text=text)


needs_jq = pytest.mark.skipif(JQ is None, reason="jq is not installed: nothing to compare with")


@needs_jq
def test_every_filter_gives_what_jq_gives() -> None:
    """All in one array: starting jq a hundred times would be the test's whole time."""
    known = [one for one in FILTERS if one not in BEYOND]
    together = "[" + ",".join(f"[({one})]" for one in known) + "]"
    ours, theirs = both("-c", "--arg", "v", "1", "--argjson", "w", '{"k":[]}', together)
    assert (ours[1], theirs[1]) == (0, 0)
    answers = zip(known, json.loads(ours[0]), json.loads(theirs[0]), strict=True)
    assert [(one, mine) for one, mine, right in answers if mine != right] == []
    assert ours == theirs


def test_comments_are_skipped() -> None:
    assert run(str(JSON_TOOL), "# first\n.n # last") == ("-3\n", 0)


@needs_jq
@pytest.mark.parametrize(
    "arguments",
    [
        ["."],
        ["-r", ".s, .o, .n"],
        ["-rc", ".o"],
        ["-S", ".o"],
        ["-j", ".s, .n"],
        ["-e", ".f"],
        ["-e", ".missing"],
        ["-e", ".t"],
        ["-e", "empty"],
        ["-n", '{"a": 1}'],
        ["-cn", "--arg", "name", 'x "y"', "{$name}"],
        ["-s", "length"],
        ["-cs", ".[0].o"],
        ["-R", "."],
        ["-Rs", "."],
        ["--compact-output", "--raw-output", ".o"],
        ["-c", ".s.x"],
    ],
)
def test_options_and_exit_codes_are_those_of_jq(arguments: list[str]) -> None:
    ours, theirs = both(*arguments)
    assert ours == theirs


@needs_jq
def test_a_stream_of_documents_is_read(tmp_path: object) -> None:
    ours, theirs = both("-c", ".a", text='{"a":1} {"a":[2]}\n\n{"a":"3"}')
    assert ours == theirs


def test_it_works_without_jq_to_compare_with() -> None:
    assert run(str(JSON_TOOL), "-r", '.a.b[2].c // "none"') == ("x y\n", 0)


@pytest.mark.parametrize(
    "given", [*sorted(BEYOND), "reduce .a as $x (0; .)", ".a = 1", "nonsense", "{"]
)
def test_what_it_does_not_know_is_said(given: str) -> None:
    done = subprocess.run(
        [str(JSON_TOOL), given], input="{}", capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.returncode) == ("", 3)
    assert done.stderr.startswith("json-tool: filter not understood: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "text", "code"),
    [(["."], "{bad", 2), (["--what", "."], "{}", 2), (["--argjson", "a", "{", "."], "{}", 2)],
)
def test_unreadable_input_and_options_are_errors(
    arguments: list[str], text: str, code: int
) -> None:
    assert run(str(JSON_TOOL), *arguments, text=text) == ("", code)


def test_the_sdk_uses_it_where_nothing_else_is_installed(sandbox: Sandbox) -> None:
    python = sandbox.folder / "python-only"
    python.mkdir()
    (python / "python3").symlink_to(sys.executable)
    (python / "env").symlink_to("/usr/bin/env")
    ran = sandbox.run(
        "mcp_args_get '.list | map(.n) | add'", {"list": [{"n": 1}, {"n": 2}]}, PATH=str(python)
    )
    assert (ran.out, ran.err) == ("3\n", "")


def test_the_sdk_prefers_the_tool_the_server_names(sandbox: Sandbox) -> None:
    tool = sandbox.folder / "named"
    tool.write_text('#!/bin/sh\necho "named $*"\n')
    tool.chmod(0o755)
    ran = sandbox.run("mcp_args_get '.a | length'", {}, MCPBASH_JSON_TOOL_BIN=str(tool))
    assert ran.out == "named -rc .a | length\n"


def test_numbers_keep_their_precision() -> None:
    out, _ = run(str(JSON_TOOL), "-c", ".", text="[12345678901234567890, 0.1]")
    assert json.loads(out) == [12345678901234567890, 0.1]
