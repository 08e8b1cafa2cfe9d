"""Names and owners: what is exposed, under which name, and who wins."""

from __future__ import annotations

from typing import Any

from tests.registry.case import ECHO_TOOL, Ask, Case, U, registry

SCRIPTS = [{**ECHO_TOOL, "name": name} for name in ("hello", "help", "echo")]


def server(name: str = "u", **more: Any) -> dict[str, Any]:
    return {"name": name, "stdio": {"command": name}, **more}


TWO = {"u": U["u"], "v": U["u"]}
CASES = [
    Case("by default a server exposes nothing", registry(), upstreams=U, names=[]),
    Case(
        "a server can expose all its tools",
        registry(servers=[server(expose="all")]),
        upstreams=U,
        names=["search", "echo"],
        asks=[Ask("echo", {"text": "x"}, reaches=("u", "echo", {"text": "x"}))],
    ),
    Case(
        "a server can expose by pattern",
        registry(servers=[server(expose=["sea*", "x"])]),
        upstreams=U,
        names=["search"],
    ),
    Case(
        "patterns know case", registry(servers=[server(expose=["SEARCH"])]), upstreams=U, names=[]
    ),
    Case(
        "a prefix is put before exposed names only",
        registry(
            {"name": "find", "server": "u", "originalName": "search"},
            servers=[server(expose="all", prefix="u_")],
        ),
        upstreams=U,
        names=["find", "u_search", "u_echo"],
        asks=[
            Ask("u_echo", {"text": "x"}, reaches=("u", "echo", {"text": "x"})),
            Ask("echo", refused=-32602),
        ],
    ),
    Case(
        "nothing is exposed before the upstream has listed",
        registry(servers=[server(expose="all")]),
        names=[],
    ),
    Case(
        "a registry entry wins over a script",
        registry({"name": "hello", "server": "u", "originalName": "echo"}),
        upstreams=U,
        scripts=SCRIPTS,
        names=["hello", "help", "echo"],
        asks=[Ask("hello", {"text": "x"}, reaches=("u", "echo", {"text": "x"}))],
        warns=["script 'hello' is left out: a registry entry has that name"],
    ),
    Case(
        "a script wins over an exposed tool",
        registry(servers=[server(expose="all")]),
        upstreams=U,
        scripts=SCRIPTS,
        names=["hello", "help", "echo", "search"],
        asks=[Ask("echo", {"text": "x"}, reaches=("script", "echo", {"text": "x"}))],
        warns=["tool 'echo' of server u is left out"],
    ),
    Case(
        "a registry entry wins over an exposed tool",
        registry(
            {"name": "search", "server": "u", "originalName": "echo"},
            servers=[server(expose="all")],
        ),
        upstreams=U,
        names=["search", "echo"],
        asks=[Ask("search", {"text": "x"}, reaches=("u", "echo", {"text": "x"}))],
    ),
    Case(
        "of two exposed tools the first server's stays",
        registry(servers=[server(expose="all"), server("v", expose=["echo"])]),
        upstreams=TWO,
        names=["search", "echo"],
        asks=[Ask("echo", {"text": "x"}, reaches=("u", "echo", {"text": "x"}))],
        warns=["tool 'echo' of server v is left out: a server before it has that name"],
    ),
    Case(
        "in an mcpServers file the later server's name is put before",
        {"mcpServers": {"u": {"command": "u"}, "v": {"command": "v"}}},
        upstreams=TWO,
        names=["search", "echo", "v_search", "v_echo"],
        asks=[
            Ask("echo", {"text": "x"}, reaches=("u", "echo", {"text": "x"})),
            Ask("v_echo", {"text": "x"}, reaches=("v", "echo", {"text": "x"})),
        ],
    ),
    Case(
        "a project shows all its scripts by default",
        registry(),
        scripts=SCRIPTS,
        names=["hello", "help", "echo"],
    ),
    Case(
        "a project can show none of its scripts",
        registry(project={"expose": "none"}),
        scripts=SCRIPTS,
        names=[],
        asks=[Ask("hello", {"text": "x"}, refused=-32602)],
    ),
    Case(
        "a project can show scripts by pattern",
        registry(project={"expose": ["hel?"]}),
        scripts=SCRIPTS,
        names=["help"],
    ),
    Case(
        "a script that is not shown can still be a source",
        registry({"name": "say", "source": "echo"}, project={"expose": "none"}),
        scripts=SCRIPTS,
        names=["say"],
        asks=[Ask("say", {"text": "x"}, reaches=("script", "echo", {"text": "x"}))],
    ),
    Case(
        "two servers may have tools of the same name",
        registry(
            {"name": "a", "server": "u", "originalName": "echo"},
            {"name": "b", "server": "v", "originalName": "echo"},
            servers=[server(), server("v")],
        ),
        upstreams=TWO,
        names=["a", "b"],
        asks=[Ask("b", {"text": "x"}, reaches=("v", "echo", {"text": "x"}))],
    ),
]
