"""No descriptors for a moment: "cannot be read" is not "is not there"."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.peers.raw_http import HttpClient, over_http
from tests.peers.serving import serving
from tests.project.conftest import Folder, runner_of, source_of
from tests.until import until
from toolyard.catalog.entries import Entries
from toolyard.protocol.kinds import KINDS
from toolyard.sources.registry.lock.lock import file_hash
from toolyard.sources.shortage import Shortage

OLD = "2025-11-25"


@contextmanager
def no_descriptors(process: int = 0) -> Iterator[None]:
    """For as long as the block lasts, the process can open nothing."""
    free = os.open("/", os.O_RDONLY)
    os.close(free)
    lowest = free if not process else len(os.listdir(f"/proc/{process}/fd"))
    before = resource.prlimit(process, resource.RLIMIT_NOFILE)
    resource.prlimit(process, resource.RLIMIT_NOFILE, (lowest, before[1]))
    try:
        yield
    finally:
        resource.prlimit(process, resource.RLIMIT_NOFILE, before)


def names(entries: Entries) -> list[list[str]]:
    listed = (entries.tools, entries.resources, entries.prompts)
    return [[one.name for one in kind] for kind in listed]


@pytest.fixture
def filled(folder: Folder) -> Folder:
    folder.tool("one")
    folder.write("resources/a.txt", "text")
    folder.write("prompts/p.txt", "Hello")
    return folder


CHANGED = ("tools/one/tool.meta.json", "resources/a.txt", "prompts/p.txt", "server.d/register.json")


@pytest.mark.parametrize("path", CHANGED)
@pytest.mark.parametrize("told", [True, False])
def test_what_cannot_be_read_for_a_moment_stays_and_is_read_again(
    filled: Folder, path: str, told: bool
) -> None:
    source = source_of(filled, runner_of(filled.root))
    before = source.read()
    assert names(before) == [["one"], ["a"], ["p"]]
    content: dict[str, object] = {"version": 1} if "register" in path else {"name": "new"}
    changed = filled.write(path, content)
    filled.tool("two")
    events = [str(changed), str(filled.root / "tools/two")] if told else []
    with no_descriptors():
        source.look(events)
        during = source.read()
    assert (names(during), during.broken) == (names(before), {})
    assert source.look([])
    assert "two" in names(source.read())[0]
    assert not source.look([])


def test_a_first_look_without_descriptors_says_so_and_is_made_again(filled: Folder) -> None:
    source = source_of(filled, runner_of(filled.root))
    with no_descriptors():
        entries = source.read()
    assert entries.broken.keys() == set(KINDS)
    assert "Too many open files" in entries.broken["tools"]
    assert names(source.read()) == [["one"], ["a"], ["p"]]


@pytest.mark.asyncio
async def test_a_registry_that_cannot_be_read_for_a_moment_is_read_again(filled: Folder) -> None:
    registry = filled.root / "registry.json"
    registry.write_text("{}")
    renamed = {"tools": [{"name": "virtual", "source": "one"}]}
    env = {"MCPBASH_TOOL_ALLOWLIST": "*"}
    async with serving(filled.root, env=env) as server, over_http(server.url, OLD) as client:
        assert [tool["name"] for tool in (await client.result("tools/list"))["tools"]] == ["one"]
        seen = len(server.stderr)
        with no_descriptors(server.process.pid):
            registry.write_text(json.dumps(renamed))
            await server.says("Too many open files", seen)
        await server.says("registry loaded anew", seen)
        await until(lambda: lists(client, "virtual"))


async def lists(client: HttpClient, name: str) -> bool:
    return name in [tool["name"] for tool in (await client.result("tools/list"))["tools"]]


def test_a_script_that_cannot_be_read_for_a_moment_is_not_taken_for_another(filled: Folder) -> None:
    script = str(filled.root / "tools/one/tool.sh")
    with no_descriptors(), pytest.raises(Shortage, match="Too many open files"):
        file_hash(script)
    assert file_hash(script).startswith("sha256:")
    assert file_hash(script + ".none") == "missing"
