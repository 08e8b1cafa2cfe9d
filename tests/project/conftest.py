"""A project folder on disk, written by the tests."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from toolyard.catalog.entries import Entries
from toolyard.errors import ProtocolError
from toolyard.protocol.call import Call, Json, JsonObject, Questions, Target
from toolyard.protocol.revisions import LATEST
from toolyard.scripts.running.runner import Runner
from toolyard.scripts.settings import ProjectPaths, RunnerSettings
from toolyard.settings import Settings
from toolyard.sources.project.layout import project_at
from toolyard.sources.project.source import ProjectSource


class Folder:
    """Writes the files of a project."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, content: str | bytes | dict[str, Any] | list[Any]) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        elif isinstance(content, str):
            target.write_text(content)
        else:
            target.write_text(json.dumps(content))
        return target

    def script(self, path: str, body: str = "echo hi\n", mode: int = 0o755) -> Path:
        target = self.write(path, f"#!/usr/bin/env bash\n{body}")
        target.chmod(mode)
        return target

    def tool(self, name: str, meta: dict[str, Any] | None = None) -> Path:
        self.write(f"tools/{name}/tool.meta.json", {"name": name, **(meta or {})})
        return self.script(f"tools/{name}/tool.sh")


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    root = tmp_path / "my-project"
    root.mkdir(mode=0o755)
    return Folder(root)


def runner_of(root: Path, **settings: Any) -> Runner:
    paths = ProjectPaths(str(root), str(root / "tools"))
    return Runner(RunnerSettings(**settings), paths)


@pytest.fixture
async def runner(folder: Folder) -> AsyncIterator[Runner]:
    runner = runner_of(folder.root)
    yield runner
    await runner.close()


class Read(Protocol):
    def __call__(self, **settings: object) -> Entries: ...


@pytest.fixture
def read(folder: Folder) -> Read:
    """The entries of the folder, with targets that are never called."""

    def read(**settings: object) -> Entries:
        return source_of(folder, runner_of(folder.root), **settings).read()

    return read


def source_of(folder: Folder, runner: Runner, **settings: object) -> ProjectSource:
    chosen = Settings(**settings)
    return ProjectSource(project_at(str(folder.root), chosen), chosen, runner=runner)


class Heard:
    """A channel that remembers what a call said on it."""

    session = None

    def __init__(self) -> None:
        self.logs: list[tuple[str, Json]] = []

    def notify(self, method: str, params: JsonObject) -> None: ...

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None: ...

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        self.logs.append((level, data))

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        return {}

    def close_stream(self) -> None: ...


def call_of(method: str, **params: Json) -> Call:
    return Call(method, params, LATEST)


async def call(target: Target, arguments: JsonObject, **params: Json) -> Json:
    """The result of a target, for a call with these params."""
    return await target.call(arguments, call_of("test", **params), Heard())


async def refused(target: Target, arguments: JsonObject, **params: Json) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        await call(target, arguments, **params)
    return caught.value
