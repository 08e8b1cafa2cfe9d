"""mcp_json_escape, _obj, _arr, mcp_is_valid_json, mcp_byte_length, mcp_json_truncate."""

import json
import subprocess

import pytest

from tests.sdk.sandbox import BASH, PRELUDE, Sandbox

STRINGS = [
    "",
    "plain",
    'quote " backslash \\ slash /',
    "tab\tnewline\nreturn\rend\n",
    "".join(map(chr, range(1, 32))) + "\x7f",
    "Grüße, 日本, 😀, \u00a0",
    "& \\& \\0 $HOME `x` * ? [a]",
    "{{%s %d}}",
    "x" * 20000 + '"\\\n' * 8000,
]


@pytest.mark.parametrize("text", STRINGS)
def test_an_escaped_string_reads_back_as_it_was(sandbox: Sandbox, text: str) -> None:
    assert sandbox.run('mcp_json_escape "$TEXT"', TEXT=text).json == text


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "POSIX"])
def test_the_locale_makes_no_difference(sandbox: Sandbox, locale: str) -> None:
    ran = sandbox.run('mcp_json_escape "$TEXT"; mcp_byte_length "$TEXT"', TEXT="é😀", LC_ALL=locale)
    assert ran.out == '"é😀"\n6\n'


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"caf\xe9", "caf\ufffd"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\xe2\x82 \xe2\x82\xac", "\ufffd\ufffd €"),
        (b"\xe2\xc3\xa9\x82\x82", "\ufffdé\ufffd\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"\xc0\x80", "\ufffd\ufffd"),
        (b"\xf0\x9f\x98\x80\xf0", "😀\ufffd"),
    ],
)
def test_bytes_that_are_not_utf8_do_not_spoil_the_json(
    sandbox: Sandbox, raw: bytes, expected: str
) -> None:
    env: dict[str, str | bytes] = {**sandbox.environment, "TEXT": raw}
    done = subprocess.run(
        [BASH, "-c", PRELUDE + 'mcp_json_escape "$TEXT"'], env=env, capture_output=True, check=True
    )
    assert json.loads(done.stdout) == expected


def test_an_object_keeps_its_order_and_has_string_values(sandbox: Sandbox) -> None:
    ran = sandbox.run("""mcp_json_obj b '2' 'a "key"' 'x & y' empty ''""")
    assert ran.out == '{"b":"2","a \\"key\\"":"x & y","empty":""}\n'


def test_an_object_with_a_key_but_no_value_is_refused(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_json_obj a 1 b")
    assert (ran.out, ran.code) == ("", 1)
    assert '"b" has no value' in ran.err


def test_arrays_hold_any_number_of_strings(sandbox: Sandbox) -> None:
    ran = sandbox.run("""mcp_json_arr; mcp_json_arr one; mcp_json_arr 'a b' '' '"'""")
    assert ran.out == '[]\n["one"]\n["a b","","\\""]\n'


VALID = [
    "0",
    "-12.5e+3",
    "null",
    '""',
    '"\\u00e9\\n\\/\\\\\\""',
    " [ ] ",
    "{ }",
    '{"a":[1,{"b":"]"},"}"],\n\t"c" : true}',
    '"*"',
    '"\x7fé"',
    "[[[[]]]]",
]
INVALID = [
    "",
    " ",
    "{",
    "]",
    "[1,]",
    "[,1]",
    "[1 2]",
    "1 2",
    "[1}",
    '{"a":1,}',
    '{"a"}',
    '{"a":}',
    "{a:1}",
    '{"a":1 "b":2}',
    '{1:"a"}',
    '"a" "b"',
    '"open',
    '"\\x"',
    '"\\u12g4"',
    '"tab\tinside"',
    "01",
    "-",
    "1.",
    ".5",
    "+1",
    "tru",
    "truex",
    "nan",
    "'a'",
    "{}}",
    "[]]",
    '"a",',
    ":",
    '{"a"::1}',
    "\x02",
]


@pytest.mark.parametrize("text", VALID)
def test_json_is_recognised(sandbox: Sandbox, text: str) -> None:
    assert sandbox.run('mcp_is_valid_json "$TEXT"', TEXT=text).code == 0


@pytest.mark.parametrize("text", INVALID)
def test_what_is_not_json_is_refused(sandbox: Sandbox, text: str) -> None:
    assert sandbox.run('mcp_is_valid_json "$TEXT"', TEXT=text).code == 1


def test_a_document_too_large_for_the_shell_is_checked_by_the_tool(sandbox: Sandbox) -> None:
    path = sandbox.folder / "large.json"
    path.write_text(json.dumps([{"n": str(n)} for n in range(4000)]))
    assert sandbox.run(f'mcp_is_valid_json "$(<{path})"').code == 0
    assert sandbox.run(f'mcp_is_valid_json "$(<{path})x"').code == 1


def test_an_array_that_fits_is_not_truncated(sandbox: Sandbox) -> None:
    assert sandbox.run("mcp_json_truncate '[1, 2, 3]' 100").json == {
        "result": [1, 2, 3],
        "truncated": False,
        "kept": 3,
        "total": 3,
    }


@pytest.mark.parametrize("count", [40, 9000])
def test_an_array_is_cut_to_whole_elements_that_fit(sandbox: Sandbox, count: int) -> None:
    path = sandbox.folder / "items.json"
    items = [{"n": n, "name": "é"} for n in range(count)]
    path.write_text(json.dumps(items, ensure_ascii=False))
    answer = sandbox.run(f'mcp_json_truncate "$(<{path})" 200').json
    result = answer["result"]
    assert result == items[: answer["kept"]]
    assert (answer["truncated"], answer["total"]) == (True, count)
    size = len(json.dumps(result, separators=(",", ":"), ensure_ascii=False).encode())
    assert 180 < size <= 200


def test_an_array_inside_an_object_is_cut_where_the_path_says(sandbox: Sandbox) -> None:
    document = {"took": 1, "hits": {"hits": ["a" * 10] * 10, "max": 2}, "rest": [1]}
    answer = sandbox.run(
        'mcp_json_truncate "$DOCUMENT" 90 --array-path .hits.hits', DOCUMENT=json.dumps(document)
    ).json
    assert answer == {
        "result": {"took": 1, "hits": {"hits": ["a" * 10] * 3, "max": 2}, "rest": [1]},
        "truncated": True,
        "kept": 3,
        "total": 10,
    }


def test_without_a_path_the_longest_array_of_an_object_is_cut(sandbox: Sandbox) -> None:
    ran = sandbox.run("""mcp_json_truncate '{"a":[1],"results":[1,2,3,4,5,6,7,8]}' 30""")
    assert ran.json["result"] == {"a": [1], "results": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    ("arguments", "type_", "message"),
    [
        ("'{a' 50", "invalid_json", "The input is not JSON"),
        ("'' 50", "invalid_json", "The input is not JSON"),
        ("'[1] [2]' 50", "invalid_json", "The input is not JSON"),
        ("'{\"a\":[1]}' 50 --array-path .b", "path_not_found", "Nothing is at .b"),
        ("'{\"a\":1}' 50 --array-path .a.b", "path_not_found", "Nothing is at .a.b"),
        ("'{\"a\":1}' 50 --array-path .a", "invalid_array_path", "Not an array: .a"),
        ("--array-path .a '{\"a\":1}' 50", "invalid_array_path", "Not an array: .a"),
        ("'{\"a\":[1]}' 50 --array-path a", "invalid_path_syntax", "Not a path: a"),
        ("'{\"a\":[1]}' 50 --array-path '.a|.b'", "invalid_path_syntax", "Not a path: .a|.b"),
        (
            '\'{"a":"long enough"}\' 5',
            "output_too_large",
            "What cannot be left out is longer than 5 bytes",
        ),
        (
            '\'{"a":"long enough","b":[1,2]}\' 20',
            "output_too_large",
            "What cannot be left out is longer than 20 bytes",
        ),
        ("'[1,2]' 1", "output_too_large", "What cannot be left out is longer than 1 bytes"),
    ],
)
def test_what_cannot_be_shortened_is_an_error_and_no_failure(
    sandbox: Sandbox, arguments: str, type_: str, message: str
) -> None:
    ran = sandbox.run(f"mcp_json_truncate {arguments}")
    error = {"type": type_, "message": message}
    assert (ran.json, ran.err, ran.code) == ({"error": error, "result": None}, "", 0)


@pytest.mark.parametrize("most", range(2, 26))
def test_no_result_is_longer_than_asked(sandbox: Sandbox, most: int) -> None:
    ran = sandbox.run(f"""mcp_json_truncate '{{"a":[1,22,333],"b":[]}}' {most}""")
    result = ran.json["result"]
    if most < 15:  # {"a":[],"b":[]}
        assert (result, ran.json["error"]["type"]) == (None, "output_too_large")
    else:
        size = len(json.dumps(result, separators=(",", ":")))
        kept = {15: 0, 16: 1, 17: 1, 18: 1, 19: 2, 20: 2, 21: 2, 22: 2}.get(most, 3)
        assert (size <= most, ran.json["kept"], ran.json["total"]) == (True, kept, 3)


def test_the_path_of_the_array_may_stand_first(sandbox: Sandbox) -> None:
    ran = sandbox.run("""mcp_json_truncate --array-path .a '{"a":["xxxx","yyyy"],"b":[1,2]}' 25""")
    result = {"a": ["xxxx"], "b": [1, 2]}
    assert ran.json == {"result": result, "truncated": True, "kept": 1, "total": 2}


def test_what_has_no_array_and_is_short_is_whole(sandbox: Sandbox) -> None:
    ran = sandbox.run("""mcp_json_truncate '{"a": 1}' 10""")
    assert ran.json == {"result": {"a": 1}, "truncated": False, "kept": 1, "total": 1}
