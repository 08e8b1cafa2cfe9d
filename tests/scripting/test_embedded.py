"""Files that tools embed in their results."""

from __future__ import annotations

import base64
import json
import os
from contextlib import suppress
from pathlib import Path

import pytest

from tests.scripting.conftest import MakeYard
from tests.scripting.yard import Recorder, Yard, run
from toolyard.protocol.call import JsonObject


async def embedded(yard: Yard, said: str, channel: Recorder | None = None) -> list[JsonObject]:
    (yard.root / "said").write_text(said)
    tool = yard.bash("embed.sh", 'cat said > "$MCP_TOOL_RESOURCES_FILE"; echo text')
    result = await run(tool, channel=channel)
    assert result["content"][0] == {"type": "text", "text": "text"}
    assert all(block["type"] == "resource" for block in result["content"][1:])
    return [block["resource"] for block in result["content"][1:]]


@pytest.fixture
def note(yard: Yard) -> Path:
    path = yard.root / "note.md"
    path.write_text("# é\n")
    return path


async def test_one_path_as_json(yard: Yard, note: Path) -> None:
    expected = {"uri": note.as_uri(), "mimeType": "text/markdown", "text": "# é\n"}
    assert await embedded(yard, json.dumps(str(note))) == [expected]


async def test_objects_and_paths_in_a_list(yard: Yard, note: Path) -> None:
    (yard.root / "blob").write_bytes(b"\0\xff")
    said = [{"path": str(note), "mimeType": "text/x", "uri": "x:1"}, str(yard.root / "blob"), 7]
    assert await embedded(yard, json.dumps(said)) == [
        {"uri": "x:1", "mimeType": "text/x", "text": "# é\n"},
        {
            "uri": (yard.root / "blob").as_uri(),
            "mimeType": "application/octet-stream",
            "blob": base64.b64encode(b"\0\xff").decode(),
        },
    ]


async def test_a_relative_path_starts_in_the_project(yard: Yard, note: Path) -> None:
    assert [resource["uri"] for resource in await embedded(yard, "note.md")] == [note.as_uri()]


async def test_lines_with_tabs(yard: Yard, note: Path) -> None:
    assert await embedded(yard, f"{note}\ttext/y\ty:1\n\n{note}\n") == [
        {"uri": "y:1", "mimeType": "text/y", "text": "# é\n"},
        {"uri": note.as_uri(), "mimeType": "text/markdown", "text": "# é\n"},
    ]


async def test_what_lies_outside_the_roots_is_left_out_and_said(yard: Yard, note: Path) -> None:
    beside = yard.root.parent / f"{yard.root.name}-old"
    beside.mkdir()
    (beside / "secret").write_text("s")
    (yard.root / "link").symlink_to(beside / "secret")
    outside = ["/etc/passwd", str(beside / "secret"), str(yard.root / "link"), "../x", "a\0b"]
    channel = Recorder()
    shown = await embedded(yard, json.dumps([*outside, str(note)]), channel)
    assert [resource["uri"] for resource in shown] == [note.as_uri()]
    assert [what[:2] for what in channel.said] == [("log", "warning")] * len(outside)


async def test_a_fifo_does_not_hang_and_a_large_file_is_left_out(a_yard: MakeYard) -> None:
    yard = a_yard(max_resource_bytes=10)
    (yard.root / "large").write_text("x" * 11)
    os.mkfifo(yard.root / "fifo")
    said = [str(yard.root / name) for name in ("large", "fifo", "missing", "tools")]
    channel = Recorder()
    assert await embedded(yard, json.dumps(said), channel) == []
    assert len(channel.said) == 4


def is_open(path: Path) -> bool:
    ours = os.stat(path)
    for fd in os.listdir("/dev/fd"):
        with suppress(OSError):  # the listing's own is gone again
            if os.path.samestat(os.fstat(int(fd)), ours):
                return True
    return False


async def test_what_is_refused_does_not_stay_open(yard: Yard) -> None:
    folder, fifo = yard.root / "folder", yard.root / "fifo"
    folder.mkdir()
    os.mkfifo(fifo)
    channel = Recorder()
    assert await embedded(yard, json.dumps([str(folder), str(fifo)]), channel) == []
    assert len(channel.said) == 2
    assert not is_open(folder)
    assert not is_open(fifo)
