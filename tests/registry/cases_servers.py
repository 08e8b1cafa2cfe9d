"""Servers: what they may say, variables, and what is disabled when one is unset."""

from __future__ import annotations

from typing import Any

from tests.registry.case import Ask, Case, U, registry

ECHO = {"name": "echo", "server": "u"}


def unset(name: str, server: dict[str, Any], place: str) -> Case:
    return Case(
        f"an unset variable in {name} disables the server and its tools",
        registry(
            ECHO,
            {"name": "other", "server": "v", "originalName": "echo"},
            servers=[{"name": "u", **server}, {"name": "v", "stdio": {"command": "x"}}],
        ),
        upstreams={"u": U["u"], "v": U["u"]},
        names=["other"],
        asks=[Ask("echo", error=f"server u is disabled: variable NOPE is not set ({place})")],
        warns=[f"variable NOPE is not set ({place})"],
    )


CASES = [
    unset("a url", {"url": "https://${NOPE}/mcp"}, "/servers/0/url"),
    unset(
        "a header", {"url": "https://h", "headers": {"A": "Bearer ${NOPE}"}}, "/servers/0/headers/A"
    ),
    unset("a command", {"stdio": {"command": "${NOPE}"}}, "/servers/0/stdio/command"),
    unset(
        "an argument",
        {"stdio": {"command": "x", "args": ["-v", "${NOPE}"]}},
        "/servers/0/stdio/args",
    ),
    unset("a folder", {"stdio": {"command": "x", "cwd": "${NOPE}"}}, "/servers/0/stdio/cwd"),
    Case(
        "an unset variable in env only warns",
        registry(ECHO, servers=[{"name": "u", "stdio": {"command": "x"}, "env": {"K": "${NOPE}"}}]),
        upstreams=U,
        names=["echo"],
        warns=["#/servers/0/env/K: variable NOPE is not set; K is left out"],
    ),
    Case(
        "a disabled server's tools say so",
        registry(ECHO, servers=[{"name": "u", "stdio": {"command": "x"}, "disabled": True}]),
        upstreams=U,
        names=[],
        asks=[Ask("echo", error="server u is disabled: disabled in the registry")],
    ),
    Case(
        "a disabled server exposes nothing",
        registry(
            servers=[
                {"name": "u", "stdio": {"command": "x"}, "disabled": "broken", "expose": "all"}
            ]
        ),
        upstreams=U,
        names=[],
    ),
    Case(
        "comments and trailing commas are accepted",
        """{
          // where things are
          "servers": [{"name": "u", "url": "https://h/mcp", /* later */ "transport": "http",},],
          "tools": [{"name": "echo", "server": "u",},], // done
        }""",
        upstreams=U,
        names=["echo"],
    ),
    Case(
        "unknown keys and $comment are ignored everywhere",
        registry(
            {**ECHO, "$comment": "x", "x-own": 1},
            servers=[{"name": "u", "stdio": {"command": "x", "shell": True}, "color": "red"}],
            more={},
        ),
        upstreams=U,
        names=["echo"],
    ),
    Case(
        "a null is as good as nothing",
        registry({**ECHO, "title": None, "source": None, "defaults": None}),
        upstreams=U,
        names=["echo"],
    ),
    Case(
        "a schemaVersion of 1.0 is accepted",
        registry(ECHO, schemaVersion="1.0"),
        upstreams=U,
        names=["echo"],
    ),
    Case(
        "a byte order mark is accepted",
        '\ufeff{"tools": []}',
        names=[],
    ),
]
