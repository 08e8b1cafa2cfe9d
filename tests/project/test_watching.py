"""Changes of a project are noticed: by events, and by looking again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.project.conftest import Folder, call_of, runner_of, source_of
from toolyard.catalog.entries import Resource
from toolyard.scripts.running.runner import Runner
from toolyard.sources.project.entries import LaterResource
from toolyard.sources.project.source import ProjectSource

# Long enough that only an event can be the reason.
NEVER = {
    f"{kind}_ttl": 3600.0
    for kind in ("tools", "resources", "prompts", "resources_templates", "ui", "register")
}


@asynccontextmanager
async def watched(source: ProjectSource) -> AsyncIterator[asyncio.Event]:
    """While this is open, the event is set when the source says that it changed."""
    changed = asyncio.Event()
    source.read()
    task = asyncio.create_task(source.watch(changed.set))
    try:
        yield changed
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def noticed(changed: asyncio.Event, source: ProjectSource, change: object) -> None:
    """Repeat the change until it is noticed: the watcher takes a moment to be set up."""
    assert callable(change)
    for attempt in range(200):
        change(attempt)
        try:
            async with asyncio.timeout(0.1):
                await changed.wait()
        except TimeoutError:
            continue
        source.read()
        changed.clear()
        return
    raise AssertionError("the change was never noticed")


async def test_a_new_tool_is_noticed_by_an_event(folder: Folder) -> None:
    folder.tool("a")
    source = source_of(folder, runner_of(folder.root), **NEVER)
    async with watched(source) as changed:
        await noticed(changed, source, lambda n: folder.tool(f"b{n}"))
        assert len(source.read().tools) > 1


async def test_a_folder_that_comes_into_being_is_watched_from_then_on(folder: Folder) -> None:
    source = source_of(folder, runner_of(folder.root), **NEVER)
    async with watched(source) as changed:
        await noticed(changed, source, lambda n: folder.script(f"tools/a{n}.sh"))
        await noticed(changed, source, lambda n: folder.script(f"tools/sub/b{n}.sh"))
        assert any(tool.name.startswith("b") for tool in source.read().tools)


async def test_without_events_a_change_is_found_when_the_ttl_has_passed(folder: Folder) -> None:
    folder.tool("a")
    source = source_of(folder, runner_of(folder.root), **{**NEVER, "prompts_ttl": 0.05})
    async with watched(source) as changed:
        folder.tool("b")
        async with asyncio.timeout(10):
            await changed.wait()


async def test_a_static_registry_is_not_watched(folder: Folder) -> None:
    source = source_of(folder, runner_of(folder.root), static_registry=True)
    source.read()
    await source.watch(lambda: None)


def watching(resource: Resource, updated: asyncio.Event) -> asyncio.Task[None]:
    assert isinstance(resource.target, LaterResource)
    watch = resource.target.watch({"uri": resource.uri}, call_of("x"), updated.set)
    return asyncio.create_task(watch)


async def test_a_resource_says_when_its_file_has_changed(folder: Folder, runner: Runner) -> None:
    path = folder.write("resources/a.txt", "0")
    source = source_of(folder, runner, **NEVER, resources_poll_interval_secs=3600.0)
    updated = asyncio.Event()
    async with watched(source):
        (resource,) = source.read().resources
        task = watching(resource, updated)
        await noticed(updated, source, lambda n: path.write_text(str(n)))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_resource_that_is_run_is_read_again_to_see_a_change(
    folder: Folder, runner: Runner
) -> None:
    folder.script("resources/a.sh", "cat count\n")
    folder.write("resources/a.meta.json", {"uri": "x:a"})
    folder.write("count", "0")
    source = source_of(folder, runner, resources_poll_interval_secs=0.01)
    (resource,) = source.read().resources
    updated = asyncio.Event()
    task = watching(resource, updated)
    await noticed(updated, source, lambda n: folder.write("count", f"{n + 1}"))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(
    ("content", "doubts"),
    [
        ('{"name": "x", "version": "1"}', []),
        ('{\n"version": 3}', ["#/version: must be text (line 2)"]),
        ('{"titel": "X"}', ['#/titel: unknown key, ignored (did you mean "title"?)']),
        ("{", [": invalid JSON"]),
    ],
)
async def test_what_is_wrong_with_the_server_s_metadata_is_logged_while_it_is_served(
    folder: Folder, content: str, doubts: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = folder.write("server.d/server.meta.json", content)
    source = source_of(folder, runner_of(folder.root), static_registry=True)
    await source.watch(lambda: None)
    lines = [record.getMessage() for record in caplog.records if str(path) in record.getMessage()]
    assert len(lines) == len(doubts)
    assert all(line.startswith(f"{path}{doubt}") for line, doubt in zip(lines, doubts, strict=True))
