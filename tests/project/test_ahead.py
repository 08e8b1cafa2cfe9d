"""A child that reads half of the tools changes nothing but the time that it takes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.project.conftest import Folder
from toolyard.settings import Settings
from toolyard.sources.project.discover import ahead
from toolyard.sources.project.discover.ahead import Ahead, ReadAhead
from toolyard.sources.project.discover.metadata import Metadata
from toolyard.sources.project.discover.scan import Scan, looked_into, quick_scan, scan
from toolyard.sources.project.layout import Project, project_at

LATE = "z-last"


@pytest.fixture
def project(folder: Folder) -> Project:
    """Good and bad, on both sides of the middle."""
    for half in ("a", "z"):
        for number in range(20):
            folder.tool(f"{half}{number:02}", {"description": f"{half} {number}"})
        folder.tool(f"{half}-outer/inner", {"description": "one level down"})
        folder.script(f"tools/{half}-bare/tool.sh")
        folder.write(f"tools/{half}-broken/tool.meta.json", "{")
        folder.script(f"tools/{half}-broken/tool.sh")
        folder.write(f"tools/{half}-headless/tool.sh", "echo hi").chmod(0o755)
        folder.write(f"tools/{half}-headless/tool.meta.json", {"name": f"{half}-headless"})
        (folder.root / f"tools/{half}-link").symlink_to(folder.root / "tools/a01")
        (folder.root / f"tools/{half}-out").symlink_to("/etc")
        folder.write(f"tools/{half}\x01name/tool.sh", "")
        folder.write(f"tools/.hidden-{half}/tool.sh", "#!/bin/sh").chmod(0o755)
    folder.tool(LATE, {"description": "last"})
    return project_at(str(folder.root), Settings())


def told(found: Scan) -> object:
    return found.items, found.stamps, sorted(found.warnings), found.broken


def plain(project: Project) -> object:
    return told(scan(project, Settings(), Metadata()))


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def children() -> set[str]:
    """Of this process, those that have ended and were not waited for among them."""
    threads = Path("/proc/self/task").iterdir()
    return {pid for thread in threads for pid in (thread / "children").read_text().split()}


def test_is_what_one_process_finds(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "MANY", 10)
    monkeypatch.setattr(ahead, "_has_two_processors", lambda: True)
    before, metadata = (open_files(), children()), Metadata()
    with ReadAhead(project.tools, metadata):
        assert isinstance(metadata.folders, Ahead)
        found = looked_into(quick_scan(project, Settings(), metadata), project, metadata)
    assert told(found) == plain(project)
    assert any("z-broken" in warning for warning in found.warnings)
    assert (open_files(), children()) == before


def test_the_child_reads_and_is_believed(project: Project) -> None:
    metadata = Metadata()
    metadata.folders = known = Ahead(project.tools, [f"{project.tools}/{LATE}"], metadata)
    known.take_over()
    place = f"{project.tools}/{LATE}"
    assert metadata.known[f"{place}/tool.meta.json"][1]["description"] == "last"
    # What a parent finds changed since then, it reads itself.
    found = known.folders[place]
    assert known.trusted(place, found.stamp) == found
    assert known.trusted(place, found.stamp + 1) is None


def test_a_child_that_fails_is_replaced_by_the_parent(project: Project) -> None:
    before, metadata = open_files(), Metadata()
    share = [f"{project.tools}/{name}" for name in ("z01", "z02-gone", LATE)]
    metadata.folders = Ahead(project.tools, share, metadata)
    assert told(scan(project, Settings(), metadata)) == plain(project)
    assert metadata.folders.doubted is None
    assert open_files() == before


def test_nothing_is_left_when_its_part_is_never_asked_for(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "MANY", 1)
    monkeypatch.setattr(ahead, "_has_two_processors", lambda: True)
    folder.tool("only", {"description": "x"})
    before = open_files(), children()
    with ReadAhead(str(folder.root / "tools"), Metadata()):
        pass
    assert (open_files(), children()) == before


def test_where_no_child_can_be_had_nothing_is_missed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_fork() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(ahead, "MANY", 10)
    monkeypatch.setattr(ahead, "_has_two_processors", lambda: True)
    monkeypatch.setattr(os, "fork", no_fork)
    before, metadata = (open_files(), children()), Metadata()
    with ReadAhead(project.tools, metadata):
        assert told(scan(project, Settings(), metadata)) == plain(project)
    assert (open_files(), children()) == before
