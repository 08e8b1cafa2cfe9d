"""What a registry file says of its servers, once read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolyard.errors import ConfigError
from toolyard.sources.registry.format.load import load_registry, read_registry
from toolyard.sources.registry.format.model import Registry
from toolyard.upstreams.definition import ServerDefinition


def read(registry: Any, **environ: str) -> Registry:
    return read_registry(json.dumps(registry).encode(), "/folder/registry.json", environ)


def server(stated: Any, **environ: str) -> ServerDefinition:
    return read({"servers": [{"name": "s", **stated}]}, **environ).servers[0]


def test_a_stdio_server_is_read_whole() -> None:
    stated = {
        "description": "Fetches.",
        "stdio": {"command": "uvx", "args": ["mcp-server-fetch", "-v"], "cwd": "sub"},
        "env": {"A": "x"},
        "timeoutSecs": 2.5,
        "expose": ["a*"],
        "prefix": "p_",
        "share": "always",
    }
    assert server(stated) == ServerDefinition(
        name="s",
        description="Fetches.",
        command="uvx",
        args=("mcp-server-fetch", "-v"),
        cwd="/folder/sub",
        env={"A": "x"},
        transport="stdio",
        timeout=2.5,
        expose=("a*",),
        prefix="p_",
        share="always",
    )


def test_a_remote_server_is_read_whole() -> None:
    stated = {"url": "https://h/mcp", "headers": {"X": "y"}, "transport": "sse", "auth": "oauth"}
    assert server(stated) == ServerDefinition(
        name="s", url="https://h/mcp", headers={"X": "y"}, transport="sse", auth="oauth"
    )


@pytest.mark.parametrize(
    ("stated", "transport"),
    [
        (None, "auto"),
        ("sse", "sse"),
        ("streamablehttp", "streamablehttp"),
        ("http", "streamablehttp"),
        ("streamable-http", "streamablehttp"),
        ("streamable_http", "streamablehttp"),
        ("streamableHttp", "streamablehttp"),
    ],
)
def test_a_transport_has_many_spellings(stated: str | None, transport: str) -> None:
    assert server({"url": "https://h", "transport": stated}).transport == transport


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${A}", "1"),
        ("x${A}y${B}", "x1y"),
        ("${NOPE:-d}", "d"),
        ("${B:-d}", "d"),
        ("${A:-d}", "1"),
        ("${NOPE:-}", ""),
        ("${NOPE:-${A}}", "1"),
        ("${NOPE:-a b:c/d$}", "a b:c/d$"),
        ("$A $ {} ${} ${1} $${A}", "$A $ {} ${} ${1} $1"),
    ],
)
def test_variables_are_substituted_and_everything_else_stays(text: str, filled: str) -> None:
    assert server({"stdio": {"command": "x", "args": [text]}}, A="1", B="").args == (filled,)


def test_values_that_came_from_variables_are_known_as_secrets() -> None:
    registry = read(
        {
            "servers": [
                {
                    "name": "s",
                    "url": "https://h",
                    "headers": {"A": "Bearer ${T:-x}", "B": "${N:-d}"},
                }
            ],
            "tools": [{"name": "t", "server": "s", "defaults": {"k": "${K}"}}],
        },
        T="tok",
        K="key",
    )
    assert registry.servers[0].secrets == {"tok", "key"}
    # It is called with the defaults of tools, and may repeat them where it fails.
    assert registry.secrets == {"tok", "key"}
    assert registry.raw["servers"][0]["headers"]["A"] == "Bearer ${T:-x}"


def test_a_url_that_a_variable_spoils_disables_its_server() -> None:
    assert "http" in (server({"url": "${U}"}, U="file:///etc").disabled or "")


def test_identical_definitions_have_one_identity_whatever_they_are_called() -> None:
    first = server({"stdio": {"command": "x"}, "description": "a", "prefix": "p"})
    again = read({"servers": [{"name": "t", "stdio": {"command": "x", "args": []}}]}).servers[0]
    other = server({"stdio": {"command": "x"}, "env": {"A": "1"}})
    assert first.identity == again.identity != other.identity


def test_oauth_on_a_tool_means_oauth_on_its_server() -> None:
    registry = read(
        {
            "servers": [{"name": "s", "url": "https://h"}, {"name": "r", "url": "https://r"}],
            "tools": [
                {"name": "a", "server": "s"},
                {"name": "b", "source": "a", "auth": "oauth"},
                {"name": "c", "server": "r"},
            ],
        }
    )
    assert [server.auth for server in registry.servers] == ["oauth", "none"]


def test_unknown_keys_are_noted_once_each() -> None:
    registry = read({"servers": [], "tool": [], "$comment": "x", "x": 1})
    assert registry.notes == (
        '/folder/registry.json#/tool: unknown key, ignored (did you mean "tools"?)',
        "/folder/registry.json#/x: unknown key, ignored",
    )


def test_mcp_servers_are_native_servers_that_expose_everything() -> None:
    registry = read(
        {
            "mcpServers": {
                "a": {"command": "npx", "args": ["${userHome}"], "timeout": 30000},
                "b": {"url": "https://h/${env:X}", "type": "http", "autoApprove": []},
            }
        },
        HOME="/h",
        X="x",
    )
    assert registry.format == "mcp-servers"
    assert [lost.partition(":")[0] for lost in registry.lost] == [
        "/mcpServers/b/autoApprove",
        "/mcpServers",
    ]
    first, second = registry.servers
    assert (first.args, first.timeout, first.expose) == (("/h",), 30, "all")
    assert (second.url, second.transport) == ("https://h/x", "streamablehttp")


@pytest.mark.parametrize(
    ("target", "url", "transport"),
    [
        ({"mcp": {"host": "h", "port": 3000, "path": "/x"}}, "http://h:3000/x", "streamablehttp"),
        ({"mcp": {"host": "https://h:8/mcp"}}, "https://h:8/mcp", "streamablehttp"),
        ({"mcp": {"host": "https://h:8", "path": "p"}}, "https://h:8/p", "streamablehttp"),
        ({"mcp": {"host": "h", "port": 443}}, "https://h/mcp", "streamablehttp"),
        ({"mcp": "https://h/m"}, "https://h/m", "streamablehttp"),
        ({"sse": {"host": "h", "port": 80}}, "http://h/sse", "sse"),
    ],
)
def test_agentgateway_targets_become_urls(target: Any, url: str, transport: str) -> None:
    registry = read({"targets": [{"name": "t", **target}], "tools": []})
    assert (registry.servers[0].url, registry.servers[0].transport) == (url, transport)


def test_a_file_that_is_not_there_is_a_problem_of_the_operator(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_registry(str(tmp_path / "none.json"), {})


def test_a_file_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "registry.json"
    path.write_text('{"servers": [{"name": "s", "stdio": {"command": "x", "cwd": "."}}]}')
    assert load_registry(str(path), {}).servers[0].cwd == f"{tmp_path}/."


COMPOSED = {"filter": {"predicate": {"field": "$.a", "op": "eq", "value": 1}}}


@pytest.mark.parametrize(
    ("stated", "form"),
    [
        ({"tools": [{"name": "t", "spec": COMPOSED}]}, "native"),
        ({"tools": [{"name": "t", "outputTransform": {"mappings": {"a": "$.b"}}}]}, "native"),
        ({"tools": [{"name": "t", "spec": {"scatter_gather": {}}}]}, "agentgateway"),
        (
            {"tools": [{"name": "t", "spec": {"mapEach": {"inner": {"step_id": 1}}}}]},
            "agentgateway",
        ),
        ({"tools": [{"name": "t", "source": {"target": "u", "tool": "x"}}]}, "agentgateway"),
        ({"tools": [{"name": "t", "output_transform": {}}]}, "agentgateway"),
        ({"targets": [{"name": "u", "sse": {"host": "h"}}], "tools": []}, "agentgateway"),
        ({"schemaVersion": "2.0", "tools": [{"name": "t", "spec": COMPOSED}]}, "agentgateway"),
    ],
)
def test_a_file_is_another_gateway_s_only_where_it_is_written_as_one(
    stated: Any, form: str
) -> None:
    assert read(stated).format == form


def test_a_problem_reads_as_file_pointer_and_remedy() -> None:
    read = read_registry(
        b'{"tools": [{"name": "fetch", "source": "x"}, {"name": "a", "source": "fetchh"}]}',
        "registry.json",
        {},
        ["x"],
    )
    assert [str(problem) for problem in read.problems] == [
        'registry.json#/tools/1/source: no tool named "fetchh" (did you mean "fetch"?)'
    ]


def test_unknown_sources_are_left_for_later_where_the_scripts_are_not_known() -> None:
    assert read({"tools": [{"name": "a", "source": "script"}]}).tools[0].source == "script"
