"""A scan of what events name finds what a scan of everything finds."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.project.conftest import Folder, runner_of, source_of
from toolyard.catalog.entries import Entries
from toolyard.sources.project.source import ProjectSource


def told(entries: Entries) -> object:
    """Everything that a client or a log would see."""
    listed = (entries.tools, entries.resources, entries.templates, entries.prompts)
    shown = [[(one.definition, one.origin) for one in kind] for kind in listed]
    return shown, sorted(entries.warnings), [one.ref for one in entries.completions]


def fresh(folder: Folder) -> object:
    return told(source_of(folder, runner_of(folder.root)).read())


def heard(source: ProjectSource, *paths: Path) -> object:
    """What the source says once it was told of these paths."""
    source.look([str(path) for path in paths])
    return told(source.read())


@pytest.fixture
def filled(folder: Folder) -> Folder:
    for number in range(3):
        folder.tool(f"tool{number}", {"description": "first"})
        for data in range(3):
            folder.write(f"resources/f{number}/r{number}-{data}.txt", "text")
        folder.write(f"prompts/p{number}.txt", "Hello {{name}}")
    folder.script("providers/own.sh")
    return folder


CHANGES: dict[str, Callable[[Folder], list[Path]]] = {
    "metadata is written to": lambda folder: [
        folder.write("tools/tool1/tool.meta.json", {"name": "tool1", "description": "second"})
    ],
    "a script is made executable no more": lambda folder: [
        _chmod(folder.root / "tools/tool0/tool.sh", 0o644)
    ],
    "a resource is added": lambda folder: [folder.write("resources/f0/new.md", "# new")],
    "a resource gets metadata": lambda folder: [
        folder.write("resources/f1/r1-1.meta.json", {"description": "told"})
    ],
    "a resource is removed": lambda folder: [_removed(folder.root / "resources/f2/r2-0.txt")],
    "a folder is removed": lambda folder: [_removed(folder.root / "resources/f1")],
    "a folder is made with what is in it": lambda folder: [
        folder.write("resources/f9/deep/x.txt", "x").parent.parent
    ],
    "metadata is broken": lambda folder: [folder.write("tools/tool2/tool.meta.json", "{")],
    "a template names a script elsewhere": lambda folder: [
        folder.script("resources/f0/look.sh"),
        folder.write("resources/f1/t.meta.json", {"uriTemplate": "a://{b}", "path": "f0/look.sh"}),
    ],
    "tools are registered by hand": lambda folder: [
        folder.write("server.d/register.json", {"version": 1, "tools": []})
    ],
    "a provider of the project's own appears": lambda folder: [
        folder.script("providers/f.sh"),
        folder.write("resources/f0/f.meta.json", {"uri": "f://x", "provider": "f"}),
    ],
}


def _chmod(path: Path, mode: int) -> Path:
    path.chmod(mode)
    return path


def _removed(path: Path) -> Path:
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return path


@pytest.mark.parametrize("what", CHANGES)
async def test_what_is_noticed_is_all_there_is(filled: Folder, what: str) -> None:
    source = source_of(filled, runner_of(filled.root))
    assert told(source.read()) == fresh(filled)
    assert heard(source, *CHANGES[what](filled)) == fresh(filled)


async def test_a_folder_that_goes_and_comes_back_is_read_again(filled: Folder) -> None:
    source = source_of(filled, runner_of(filled.root))
    source.read()
    place = filled.root / "resources" / "f1"
    assert heard(source, _removed(place)) == fresh(filled)
    filled.write("resources/f1/other.txt", "other")
    assert heard(source, place) == fresh(filled)


async def test_what_a_link_leads_to_is_looked_at_again(filled: Folder) -> None:
    shared = filled.script("tools/shared.sh", '# mcp: {"description": "one"}\n')
    (filled.root / "tools" / "tool0" / "linked.sh").symlink_to(shared)
    source = source_of(filled, runner_of(filled.root))
    source.read()
    filled.script("tools/shared.sh", '# mcp: {"description": "two"}\n')
    assert heard(source, shared) == fresh(filled)


async def test_what_metadata_names_elsewhere_is_looked_at_again(filled: Folder) -> None:
    CHANGES["a template names a script elsewhere"](filled)
    source = source_of(filled, runner_of(filled.root))
    source.read()
    assert heard(source, _removed(filled.root / "resources/f0/look.sh")) == fresh(filled)


async def test_a_change_without_an_event_is_found_by_looking_at_everything(filled: Folder) -> None:
    source = source_of(filled, runner_of(filled.root))
    source.read()
    filled.write("tools/tool1/tool.meta.json", {"name": "tool1", "description": "second"})
    seen = filled.write("resources/f0/new.md", "# new")
    assert heard(source, seen) != fresh(filled)
    assert heard(source) == fresh(filled)


@pytest.mark.parametrize("seed", range(8))
async def test_any_sequence_of_changes_ends_the_same(filled: Folder, seed: int) -> None:
    chance = random.Random(seed)
    source = source_of(filled, runner_of(filled.root))
    source.read()
    for step in range(25):
        assert heard(source, *_anything(filled, chance, step)) == fresh(filled), step


def _anything(folder: Folder, chance: random.Random, step: int) -> list[Path]:
    kind = chance.choice(("tools", "resources", "prompts"))
    files = [Path(place, name) for place, _, names in os.walk(folder.root / kind) for name in names]
    known = chance.choice(files) if files else folder.root / kind / "first.txt"
    match chance.randrange(5):
        case 0:
            return [folder.script(f"tools/new{step}/tool.sh")]
        case 1:
            return [folder.write(f"resources/f{chance.randrange(5)}/s{step}.txt", "s")]
        case 2 if known.exists():
            return [_removed(known)]
        case 3 if known.exists():
            target = known.with_name(f"moved{step}{known.suffix}")
            known.rename(target)
            return [known, target]
        case _:
            known.parent.mkdir(parents=True, exist_ok=True)
            known.write_text(f'#!/bin/sh\n# mcp: {{"description": "step {step}"}}\n')
            return [known]
