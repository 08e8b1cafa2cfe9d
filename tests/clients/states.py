"""The states that a client's file can be in before a link, and whether it can be linked then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from toolyard.clients.known import KnownClient
from toolyard.files.documents.json_text import JsonText
from toolyard.files.documents.toml_text import TomlText

BOM = b"\xef\xbb\xbf"


class State(NamedTuple):
    name: str
    data: bytes | None
    can_be_linked: bool = True

    @property
    def is_blank(self) -> bool:
        return not (self.data or b"").removeprefix(BOM).strip()


def states_of(client: KnownClient) -> Iterator[State]:
    yield State("missing", None)
    yield State("of 0 bytes", b"")
    yield State("blank", b" \r\n\t\n")
    yield State("blank with a BOM", BOM + b"\n", client.form.bom)
    yield State("not UTF-8", b'{"a": "\xff"}', False)
    yield State("binary", b"\x00\x01\x02", False)
    if isinstance(client.form, JsonText):
        yield from _json(client, client.form)
    elif isinstance(client.form, TomlText):
        yield from _toml(client)
    else:
        yield from _yaml(client)


def _json(client: KnownClient, form: JsonText) -> Iterator[State]:
    key = client.container[0]
    foreign = {"theme": "día", "n": [1, 2.50, {"a": None}], key: {"other": {"command": "x"}}}
    text = json.dumps(foreign, indent=4, ensure_ascii=False) + "\n"
    yield State("an empty object", b"{}")
    yield State("an empty object on two lines", b"{\n}\n")
    yield State("an empty container", json.dumps({key: {}}).encode())
    yield State("with foreign keys", text.encode())
    yield State("without the container", b'{\n  "theme": "x"\n}')
    yield State("on one line", json.dumps(foreign).encode())
    yield State("compact", json.dumps(foreign, separators=(",", ":")).encode())
    yield State("with tabs", json.dumps(foreign, indent="\t").encode())
    yield State("with CRLF", text.replace("\n", "\r\n").encode())
    yield State("with a BOM", BOM + text.encode(), form.bom)
    yield State("with large numbers", b'{"id": 123456789012345678901234567890, "x": 1e400}')
    yield State("with __proto__", b'{"__proto__": {"a": 1}, "constructor": 2}')
    comments = (
        f'// a "b" {{\n{{ /* c */\n  "x": 1, // d\n  "{key}": {{ // e\n    "o": {{}}\n  }}\n}}\n'
    )
    yield State("with comments", comments.encode(), form.comments)
    commas = f'{{\n  "x": [1,],\n  "{key}": {{\n    "o": {{}},\n  }},\n}}\n'
    yield State("with trailing commas", commas.encode(), form.trailing_commas)
    yield State("broken", text.encode()[:-4], False)
    yield State("broken by a lone comma", b'{"a": 1,, "b": 2}', False)
    yield State("a list", b"[]", False)
    yield State("null", b"null", False)
    others: dict[str, Any] = {"null": None, "a list": [], "a text": "x"}
    for name, value in others.items():
        yield State(f"whose container is {name}", json.dumps({key: value}).encode(), False)
    twice = f'{{"{key}": {{}}, "a": 1, "{key}": {{}}}}'
    yield State("with the container twice", twice.encode(), False)
    taken = {key: {"demo": {"command": "theirs"}}}
    yield State("with a server of that name", json.dumps(taken).encode(), False)


def _toml(client: KnownClient) -> Iterator[State]:
    opened = "[[mcp_servers]]\nname = 'other'" if client.key else "[mcp_servers.other]"
    text = f'# mine\nmodel = "x" # why\n\n{opened}\ncommand = "y"\n\n# the end\n[other]\na = 1\n'
    yield State("with foreign keys", text.encode())
    yield State("with CRLF", text.replace("\n", "\r\n").encode())
    yield State("with a BOM", BOM + text.encode(), client.form.bom)
    yield State("without a final newline", b"a = 1")
    yield State("of comments", b"# only this\n")
    yield State("with strings that look like tables", b'a = """\n[mcp_servers.demo]\n"""\n')
    yield State("broken", b"a = \n[b", False)
    inline: Any = "[{ name = 'a' }]" if client.key else "{ a = { command = 'x' } }"
    yield State("with an inline container", f"mcp_servers = {inline}\n".encode(), False)
    taken = "[[mcp_servers]]\nname = 'demo'\n" if client.key else '[mcp_servers."demo"]\na = 1\n'
    yield State("with a server of that name", taken.encode(), False)
    if not client.key:
        below = b"[mcp_servers.demo.http_headers]\na = 'b'\n"
        yield State("with a sub-table of that name", below, False)


def _yaml(client: KnownClient) -> Iterator[State]:
    key = client.container[0]
    item = "- name: other\n    command: y" if client.key else "other:\n    command: y"
    text = (
        f"# mine\nmodel: x # why\n{key}: # here\n  # first\n  {item}\n\n# the end\nlast: |\n  a\n"
    )
    yield State("with foreign keys", text.encode())
    yield State("with CRLF", text.replace("\n", "\r\n").encode())
    yield State("with a BOM", BOM + text.encode())
    yield State("without a final newline", b"a: 1")
    yield State("of comments", b"# only this\n")
    yield State("with an empty container", f"{key}:\nb: 1\n".encode())
    yield State("with an empty flow container", f"{key}: {'[]' if client.key else '{}'}\n".encode())
    flow = "[{name: a}]" if client.key else "{a: {b: 1}}"
    yield State("with a flow container", f"x: 1\n{key}: {flow} # c\n".encode())
    yield State("with a document start", b"---\na: 1\n")
    yield State("of two documents", b"---\na: 1\n---\nb: 1\n", False)
    yield State("broken", b"a: [1\nb: }", False)
    yield State("a list", b"- 1\n", False)
    yield State("with an anchor at the container", f"{key}: &x\n  {item}\n".encode(), False)
    yield State("with an alias", f"a: &x {{b: {{}}}}\n{key}: *x\n".encode(), False)
    yield State("with a tag", f"{key}: !!map\n  {item}\n".encode(), False)
    yield State("with the container twice", f"{key}:\n  {item}\n{key}:\n  {item}\n".encode(), False)
    taken = "- name: demo" if client.key else "demo:\n    command: y"
    yield State("with a server of that name", f"{key}:\n  {taken}\n".encode(), False)
