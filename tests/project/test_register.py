"""What is registered by hand: read strictly, or not at all."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.project.conftest import Folder, Read, call, source_of
from toolyard.catalog.entries import Entries
from toolyard.protocol.kinds import KINDS
from toolyard.scripts.running.runner import Runner


def names(entries: Entries) -> list[str]:
    return [tool.name for tool in entries.tools]


def register(folder: Folder, **lists: Any) -> Path:
    return folder.write("server.d/register.json", {"version": 1, **lists})


def test_what_is_registered_replaces_what_would_be_found(folder: Folder, read: Read) -> None:
    folder.tool("found")
    folder.script("tools/z.sh")
    folder.write("resources/r.txt", "text")
    folder.write("prompts/p.txt", "text")
    register(
        folder,
        tools=[{"name": "b", "path": "z.sh"}, {"name": "a", "path": "found/tool.sh"}],
        prompts=[],
        resources=None,
        _meta={"any": 1},
    )
    entries = read()
    assert names(entries) == ["b", "a"]
    assert entries.tools[0].definition == {
        "name": "b",
        "inputSchema": {"type": "object", "properties": {}},
    }
    assert entries.prompts == ()
    assert [resource.name for resource in entries.resources] == ["r"]
    assert (entries.warnings, entries.broken) == ((), {})


async def test_registered_resources_prompts_and_templates_work(
    folder: Folder, runner: Runner
) -> None:
    folder.write("resources/data/r.txt", "text")
    folder.write("prompts/p.txt", "Hi {{a}}")
    folder.script("resources/t.sh", 'printf %s "$MCP_TEMPLATE_ARGS_JSON"\n')
    register(
        folder,
        resources=[{"name": "r", "uri": "x:r", "path": "data/r.txt"}],
        prompts=[{"name": "p", "path": "p.txt", "arguments": [{"name": "a"}]}],
        resourceTemplates=[{"name": "t", "uriTemplate": "y:{id}", "path": "t.sh"}],
    )
    entries = source_of(folder, runner).read()
    assert entries.warnings == ()
    read = await call(entries.resources[0].target, {"uri": "x:r"})
    assert read["contents"] == [{"uri": "x:r", "mimeType": "text/plain", "text": "text"}]
    got = await call(entries.prompts[0].target, {"a": "you"})
    assert got["messages"][0]["content"]["text"] == "Hi you"
    made = await call(entries.templates[0].target, {"uri": "y:1", "id": "1"})
    assert made["contents"][0]["text"] == '{"id":"1"}'


def test_registered_templates_lie_over_those_found(folder: Folder, read: Read) -> None:
    folder.write("resources/a.meta.json", {"name": "a", "uriTemplate": "found:{x}"})
    folder.write("resources/b.meta.json", {"name": "b", "uriTemplate": "found:{y}"})
    register(folder, resourceTemplates=[{"name": "b", "uriTemplate": "by-hand:{y}"}])
    assert [t.uri_template for t in read().templates] == ["found:{x}", "by-hand:{y}"]
    register(folder, resourceTemplates=[])
    assert read().templates == ()


def test_a_registered_tool_without_its_script_is_listed_as_unavailable(
    folder: Folder, read: Read
) -> None:
    folder.script("outside.sh")
    path = register(
        folder,
        tools=[{"name": "none", "path": "none.sh"}, {"name": "out", "path": "../outside.sh"}],
    )
    entries = read()
    root = folder.root / "tools"
    assert [tool.unavailable for tool in entries.tools] == [
        f"'none.sh' is not a file below {root}",
        f"'../outside.sh' is not a file below {root}",
    ]
    assert [warning.startswith(f"{path}: ") for warning in entries.warnings] == [True, True]


@pytest.mark.parametrize(
    "content, why",
    [
        (b'{"version": 1, // no comments\n "tools": []}', "is not JSON"),
        (b'\xef\xbb\xbf{"version": 1}', "byte order mark"),
        (b"[]", "must hold a JSON object"),
        (b"{}", "#/version: must be 1"),
        (b'{"version": "1"}', "#/version: must be 1"),
        (b'{"version": true}', "#/version: must be 1"),
        (b'{"version": 2}', "#/version: must be 1"),
        (b'{"version": 1, "tool": []}', '#/tool: there is no key "tool" (did you mean "tools"?)'),
        (b'{"version": 1, "tools": {}}', "#/tools: must be a list"),
        (b'{"version": 1,\n"tools":\n[1]}', "#/tools/0: must be an object (line 3)"),
        (b'{"version": 1, "tools": [1]}', "#/tools/0: must be an object"),
        (b'{"version": 1, "tools": [{"name": "a"}]}', "#/tools/0/path: must be text"),
        (b'{"version": 1, "prompts": [{"path": "a"}]}', "#/prompts/0/name: must be text"),
        (
            b'{"version": 1, "tools": [{"name": "a", "path": "a", "inputSchema": []}]}',
            "#/tools/0: inputSchema must be an object",
        ),
        (
            b'{"version": 1, "resourceTemplates": [{"name": "a", "uriTemplate": "x:{}"}]}',
            "#/resourceTemplates/0: uriTemplate 'x:{}': {} does not name a variable",
        ),
        (
            b'{"version": 1, "completions": [{"name": "a", "path": "none.sh"}]}',
            "#/completions/0/path: 'none.sh' is not a file of the project",
        ),
        (
            b'{"version": 1, "completions": [{"name": "a", "path": "/bin/sh"}]}',
            "#/completions/0/path: '/bin/sh' is not a file of the project",
        ),
        (
            b'{"version": 1, "completions": '
            b'[{"name": "a", "path": "c.sh"}, {"name": " a ", "path": "c.sh"}]}',
            "#/completions/1/name: 'a' is there twice",
        ),
        (b'{"version": 1, "_meta": "' + b"x" * 300 + b'"}', "exceeds 300 bytes"),
    ],
)
def test_one_mistake_and_no_list_is_served(
    folder: Folder, read: Read, content: bytes, why: str
) -> None:
    folder.tool("found")
    folder.script("c.sh")
    path = folder.write("server.d/register.json", content)
    entries = read(max_manual_registry_bytes=300)
    assert set(entries.broken) == set(KINDS)
    assert all(str(path) in said and why in said for said in entries.broken.values())
    assert (entries.tools, entries.completions) == ((), ())
    (warning,) = entries.warnings
    assert warning.startswith(str(path)) and why in warning


@pytest.mark.parametrize("place", ["server.d/register.json", "server.d", "."])
def test_a_registration_that_others_may_write_is_not_read(
    folder: Folder, read: Read, place: str
) -> None:
    register(folder, tools=[])
    (folder.root / place).chmod(0o777)
    entries = read()
    assert "can be written by group or others" in entries.broken["tools"]


def test_a_registration_that_is_a_link_is_not_read(folder: Folder, read: Read) -> None:
    elsewhere = folder.write("elsewhere.json", {"version": 1})
    (folder.root / "server.d").mkdir()
    (folder.root / "server.d/register.json").symlink_to(elsewhere)
    assert "is a link" in read().broken["prompts"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file away")
def test_a_registration_of_another_user_is_not_read(folder: Folder, read: Read) -> None:
    os.chown(register(folder, tools=[]), 12345, 12345)
    assert "belongs to another user" in read().broken["tools"]


HOOK = """
mcp_register_tool '{"name": "by-hook", "path": "found/tool.sh", "description": "a \\"b\\""}'
mcp_resources_templates_manual_begin
mcp_resources_templates_register_manual '{
  "name": "logs",
  "uriTemplate": "file:///var/log/{service}.log"
}'
mcp_resources_templates_manual_finalize
mcp_completion_register_manual '{"name": "c", "path": "c.sh"}'
mcp_prompts_manual_begin
mcp_prompts_manual_finalize
"""


def test_a_script_registers_with_shell_functions(folder: Folder, read: Read) -> None:
    folder.tool("found")
    folder.script("c.sh")
    folder.write("prompts/p.txt", "")
    folder.write("resources/r.txt", "")
    folder.script("server.d/register.sh", HOOK)
    entries = read(allow_project_hooks=True)
    assert (entries.broken, entries.warnings) == ({}, ())
    assert names(entries) == ["by-hook"]
    assert entries.tools[0].definition["description"] == 'a "b"'
    assert [template.name for template in entries.templates] == ["logs"]
    assert [completion.ref for completion in entries.completions] == ["c"]
    assert entries.prompts == ()
    assert [resource.name for resource in entries.resources] == ["r"]


def test_a_script_is_asked_again_when_its_time_has_passed(folder: Folder, runner: Runner) -> None:
    folder.tool("found")
    body = """echo >>runs
    printf -v item '{"name": "t%d", "path": "x"}' "$(wc -l <runs)"
    mcp_register_tool "$item"
    """
    folder.script("server.d/register.sh", body)
    always = source_of(folder, runner, allow_project_hooks=True, register_ttl=0)
    assert [names(always.read()), names(always.read())] == [["t1"], ["t2"]]
    rarely = source_of(folder, runner, allow_project_hooks=True, register_ttl=3600)
    assert [names(rarely.read()), names(rarely.read())] == [["t3"], ["t3"]]


def test_a_script_may_print_everything_at_once(folder: Folder, read: Read) -> None:
    folder.tool("found")
    folder.write("prompts/p.txt", "")
    printed = '{"tools": [{"name": "printed", "path": "found/tool.sh"}]}'
    folder.script("server.d/register.sh", f"echo '{printed}'\n")
    entries = read(allow_project_hooks=True)
    assert names(entries) == ["printed"]
    assert [prompt.name for prompt in entries.prompts] == ["p"]


def test_a_script_is_not_run_unless_that_is_allowed(folder: Folder, read: Read) -> None:
    folder.tool("found")
    path = folder.script("server.d/register.sh", f"touch {folder.root}/ran\n")
    entries = read()
    assert names(entries) == ["found"]
    assert entries.warnings == (f"{path}: is not run without MCPBASH_ALLOW_PROJECT_HOOKS=true",)
    path.chmod(0o777)
    assert "can be written" in read(allow_project_hooks=True).broken["tools"]
    assert not (folder.root / "ran").exists()


def test_a_script_is_not_run_where_there_is_a_file(folder: Folder, read: Read) -> None:
    folder.script("server.d/register.sh", f"touch {folder.root}/ran\n")
    folder.write("server.d/register.json", "{")
    assert set(read(allow_project_hooks=True).broken) == set(KINDS)
    assert not (folder.root / "ran").exists()


@pytest.mark.parametrize(
    "body, why",
    [
        ("echo oh >&2; exit 4", "failed with exit code 4: oh"),
        ("mcp_register_tool '{'", "registers what is not JSON"),
        ("mcp_register_tool '{}'", "#/tools/0/name: must be text"),
        ("echo rubbish", "prints what is not JSON"),
        ("echo '[]'", "must print a JSON object"),
        ("sleep 60 & sleep 60", "took longer than 0.3s"),
        ("printf '%2000s' ' '", "registers more than 1000 bytes"),
    ],
)
def test_a_script_that_goes_wrong_breaks_every_list(
    folder: Folder, read: Read, body: str, why: str
) -> None:
    path = folder.script("server.d/register.sh", body + "\n")
    entries = read(allow_project_hooks=True, default_tool_timeout=0.3, manual_buffer_max_bytes=1000)
    assert set(entries.broken) == set(KINDS)
    assert f"{path}" in entries.broken["tools"] and why in entries.broken["tools"]


def test_a_script_does_not_see_our_secrets(
    folder: Folder, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPBASH_REMOTE_TOKEN", "hush")
    folder.script("server.d/register.sh", f"env >{folder.root}/env\n")
    read(allow_project_hooks=True)
    assert "hush" not in (folder.root / "env").read_text()
