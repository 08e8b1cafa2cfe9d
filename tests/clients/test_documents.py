"""Editors on generated documents: the value gains the entry alone, and every byte comes back."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from toolyard.clients.known import JSONC, STRICT, TOML
from toolyard.clients.known import YAML as YAML_FORM
from toolyard.files.comments import parse
from toolyard.files.documents.document import Addition, put, read, take
from toolyard.files.documents.splices import undone
from toolyard.files.documents.spots import Spot

ENTRY = {"command": "/opt/a b", "args": ["serve", "$(x)"], "env": {"A": 'q"\\\n'}}
HOSTILE = (
    *('"', "\\", "/", "~", "~1", ".", "a.b", "]", "}", "#", "'", "$(id)", "`id`", "%s", "{0}"),
    *(
        "\n",
        "\r\n",
        "\t",
        "\x00",
        "\x7f",
        "\x85",
        "\u2028",
        "\ufeff",
        "ключ",
        "😀",
        " ",
        "-",
        "? x",
    ),
    *("__proto__", "constructor", "null", "true", "1e3", "&a", "*a", "!!x", "<<", "- a", "a: b"),
)
texts = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)
gaps = st.text(" \t\n", max_size=3).flatmap(
    lambda blank: st.sampled_from([blank, f'{blank}/* , }} " */{blank}', f'{blank}// }} , "\n'])
)


@st.composite
def jsonc(draw: st.DrawFn, value: Any) -> str:
    """A document with comments in every gap and trailing commas."""

    def written(value: Any) -> str:
        if not isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        items = value.items() if isinstance(value, dict) else [(None, item) for item in value]
        parts = [
            draw(gaps)
            + (f"{json.dumps(key)}{draw(gaps)}:{draw(gaps)}" if key is not None else "")
            + written(part)
            + draw(gaps)
            for key, part in items
        ]
        comma = draw(st.sampled_from(["", ","])) if parts else ""
        ends = "{}" if isinstance(value, dict) else "[]"
        return f"{ends[0]}{','.join(parts) or draw(gaps)}{comma}{draw(gaps)}{ends[1]}"

    text = draw(gaps) + written(value) + draw(gaps)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@st.composite
def jsonc_documents(draw: st.DrawFn) -> bytes:
    document = draw(st.dictionaries(texts, values, max_size=3))
    if draw(st.booleans()):
        document["mcpServers"] = draw(st.dictionaries(texts, values, max_size=3))
    else:
        document.pop("mcpServers", None)
    bom = b"\xef\xbb\xbf" if draw(st.booleans()) else b""
    return bom + draw(jsonc(document)).encode()


@settings(max_examples=300, deadline=None)
# Two comments on the line, with a member between them: they are not one.
@example(b'{"mcpServers":{/* a */"o":[/* b */\n]}}', "demo")
@given(jsonc_documents(), texts)
def test_json_with_comments_gains_the_entry_and_loses_it_again(data: bytes, name: str) -> None:
    spot = Spot(("mcpServers",), name)
    servers = parse(data).get("mcpServers", {})
    if name in servers:
        return
    change = put(data, JSONC, [Addition(spot, ENTRY)])
    after, before = parse(change.data), parse(data)
    assert list(after.pop("mcpServers").items()) == [(name, ENTRY), *servers.items()]
    before.pop("mcpServers", None)
    assert list(after.items()) == list(before.items())
    assert undone(change.data, change.splices) == data
    taken = parse(take(change.data, JSONC, [spot]))
    assert taken.pop("mcpServers") == servers
    assert list(taken.items()) == list(before.items())


tables = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), texts),
    lambda inner: st.one_of(st.lists(texts, max_size=3), st.dictionaries(texts, inner, max_size=2)),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(texts, tables, max_size=3), texts, texts, st.sampled_from(["\n", "\r\n"]))
def test_toml_gains_a_table_and_loses_it_again(
    foreign: dict[str, Any], name: str, other: str, newline: str
) -> None:
    foreign.pop("mcp_servers", None)
    data = b'# [mcp_servers.demo]\nx = """\n[a]\n"""\n'.replace(b"\n", newline.encode())
    for number, (key, value) in enumerate(foreign.items()):
        spot = Spot(("foreign",), f"{number}{key}")
        data = put(data, TOML, [Addition(spot, {key: value})]).data
    if other != name:
        data = put(data, TOML, [Addition(Spot(("mcp_servers",), other), ENTRY)]).data
    before = tomllib.loads(data.decode())
    spot = Spot(("mcp_servers",), name)
    change = put(data, TOML, [Addition(spot, ENTRY)])
    after = tomllib.loads(change.data.decode())
    assert after["mcp_servers"].pop(name) == ENTRY
    assert {**after, "mcp_servers": None} == {**before, "mcp_servers": None}
    assert change.data.startswith(data)
    assert undone(change.data, change.splices) == data
    assert tomllib.loads(take(change.data, TOML, [spot]).decode()) == before


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(texts, texts, max_size=3), texts, st.sampled_from(["\n", "\r\n"]))
def test_yaml_gains_an_entry_and_loses_it_again(
    foreign: dict[str, str], name: str, newline: str
) -> None:
    data = (
        b"# mine\n---\nother: 1 # why\nextensions:\n  # first\n  zz:\n    a: |\n      b\n\nz: 1\n"
    )
    data = data.replace(b"\n", newline.encode())
    for number, (key, value) in enumerate(foreign.items()):
        spot = Spot(("extensions",), f"{number}{key}")
        data = put(data, YAML_FORM, [Addition(spot, {key: value})]).data
    reader = YAML(typ="safe", pure=True)
    before = reader.load(data.decode())
    spot = Spot(("extensions",), name)
    change = put(data, YAML_FORM, [Addition(spot, ENTRY)])
    after = reader.load(change.data.decode())
    assert after["extensions"].pop(name) == ENTRY
    assert after == before
    assert undone(change.data, change.splices) == data
    assert take(change.data, YAML_FORM, [spot]) == data


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    ("form", "container"),
    [(STRICT, "mcpServers"), (TOML, "mcp_servers"), (YAML_FORM, "extensions")],
)
def test_a_hostile_name_and_its_values_stay_data(form: Any, container: str, name: str) -> None:
    entry = {"command": name, "args": [name, name * 2], "env": {name: name}}
    change = put(b"", form, [Addition(Spot((container,), name), entry)])
    assert read(change.data, form) == {container: {name: entry}}


def test_ten_megabytes_of_history_do_not_matter() -> None:
    """The file of a client with everything that was ever said in it."""
    history = [{"display": f"line {n} " + "x" * 80, "at": n} for n in range(80_000)]
    data = json.dumps({"history": history, "mcpServers": {}}).encode()
    assert len(data) > 9_000_000
    change = put(data, STRICT, [Addition(Spot(("mcpServers",), "demo"), ENTRY)])
    assert undone(change.data, change.splices) == data


def test_a_file_over_the_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="larger than 16 MB"):
        put(b" " * (17 * 1024 * 1024), STRICT, [])


def test_aliases_of_aliases_are_refused_in_a_moment() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    with pytest.raises(ValueError, match="too many values"):
        read("\n".join(lines).encode(), YAML_FORM)


def test_mistakes_are_named_with_line_and_column() -> None:
    for form, data, sentence in (
        (STRICT, b'{\n  "a": 1\n  "b"', "line 3, column 3"),
        (TOML, b"a = 1\nb = \n", "at line 2, column 5"),
        (YAML_FORM, b"a: 1\nb: [\n", "line 3, column 1"),
        (STRICT, b'{"a": 1} // x', "has comments or trailing commas, which this program cannot"),
    ):
        with pytest.raises(ValueError, match=sentence):
            read(data, form)


@pytest.mark.parametrize(
    ("form", "data", "sentence"),
    [
        (STRICT, b'{"c": {}, "c": {}}', "twice in the same object"),
        (STRICT, b'{"c": []}', "has c, which is not an object"),
        (STRICT, b"[]", "must hold a JSON object"),
        (YAML_FORM, b"c: &x\n  a: 1\n", "an anchor, alias or tag"),
        (YAML_FORM, b"c:\n  a: 1\nc:\n  a: 1\n", "twice in the same mapping"),
        (YAML_FORM, b"x: &x\n  c:\n    a: 1\n<<: *x\n", "a merge key where servers are named"),
        (TOML, b"c = 1\n", "has c, which is not a table of servers"),
        (TOML, b"c = { a = 1 }\n", "no place for the entry that can be changed safely"),
    ],
)
def test_a_place_that_readers_disagree_about_is_refused(
    form: Any, data: bytes, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        put(data, form, [Addition(Spot(("c",), "demo"), ENTRY)])
