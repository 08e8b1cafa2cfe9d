"""What the tests of the runners share: a project folder, its runner, and a Channel that records."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolyard.protocol.call import Call, Client, Json, JsonObject, Questions, Session
from toolyard.protocol.revisions import R2025_11_25
from toolyard.scripts.running.runner import Runner
from toolyard.scripts.settings import ProjectPaths, RunnerSettings
from toolyard.scripts.tool import ScriptTarget

Answer = Callable[[Questions], Awaitable[JsonObject]]


@dataclass
class Recorder:
    """A Channel that writes down what it is told, in order."""

    answer: Answer | None = None
    session: Session | None = None
    said: list[tuple[Any, ...]] = field(default_factory=list)
    heard: asyncio.Event = field(default_factory=asyncio.Event)

    def record(self, *what: Any) -> None:
        self.said.append(what)
        self.heard.set()

    def notify(self, method: str, params: JsonObject) -> None:
        self.record("notify", method, params)

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        self.record("progress", progress, total, message)

    def log(self, level: str, data: Json, logger: str | None = None) -> None:
        self.record("log", level, data, logger)

    async def ask(self, questions: Questions, timeout: float | None = None) -> JsonObject:
        self.record("ask", dict(questions), timeout)
        assert self.answer is not None
        return await self.answer(questions)

    def close_stream(self) -> None:
        self.record("close_stream")

    async def until(self, *kinds: str) -> None:
        """Until something of each kind was said."""
        while not set(kinds) <= {what[0] for what in self.said}:
            self.heard.clear()
            await self.heard.wait()


CALL = Call("tools/call", {}, R2025_11_25)


def calling(**changes: Any) -> Call:
    return replace(CALL, **changes)


def able(**capabilities: Json) -> Call:
    return calling(client=Client({}, capabilities=capabilities))


@dataclass
class Yard:
    """A project folder with tools, and the runner of it."""

    root: Path
    runner: Runner

    def script(self, name: str, text: str, mode: int = 0o755) -> Path:
        path = self.root / "tools" / name
        path.write_text(text)
        path.chmod(mode)
        return path

    def bash(self, name: str, body: str, **metadata: Json) -> ScriptTarget:
        return self.target(self.script(name, f"#!/usr/bin/env bash\n{body}\n"), **metadata)

    def python(self, name: str, body: str, **metadata: Json) -> ScriptTarget:
        return self.target(self.script(name, f"#!/usr/bin/env python3\n{body}\n"), **metadata)

    def c(self, name: str, source: str, **metadata: Json) -> ScriptTarget:
        path = self.root / "tools" / name
        subprocess.run(["gcc", "-x", "c", "-o", str(path), "-"], input=source.encode(), check=True)
        path.chmod(0o755)
        return self.target(path, **metadata)

    def target(self, path: Path, **metadata: Json) -> ScriptTarget:
        return ScriptTarget(path.stem, str(path), {"name": path.stem, **metadata}, self.runner)

    @property
    def run_folders(self) -> list[Path]:
        return list((self.root / "tmp").iterdir())


def make_yard(root: Path, settings: Mapping[str, Any] | None = None) -> Yard:
    for name in ("tools", "tmp"):
        (root / name).mkdir()
    chosen = RunnerSettings(tmp_root=str(root / "tmp"), **(settings or {}))
    paths = ProjectPaths(str(root), str(root / "tools"), allowed_roots=(str(root),))
    return Yard(root, Runner(chosen, paths))


async def run(
    target: ScriptTarget,
    arguments: JsonObject | None = None,
    call: Call = CALL,
    channel: Recorder | None = None,
) -> JsonObject:
    return await target.call(arguments or {}, call, channel or Recorder())


def text_of(result: JsonObject) -> str:
    return str(result["content"][0]["text"])


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def has(program: str) -> bool:
    return shutil.which(program) is not None
