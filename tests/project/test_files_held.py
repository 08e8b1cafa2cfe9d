"""Reading and watching files is held to the roots, whatever happens to the folders meanwhile."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from tests.project.conftest import Folder
from toolyard.errors import ProtocolError
from toolyard.files.beneath import open_real
from toolyard.scripts.contract.embedded import EmbeddingRefusal, Named, embed
from toolyard.scripts.resources.files import FileProvider

OLD, NEW = "2025-11-25", "2026-07-28"
READS = 4000


@contextmanager
def swapping(folder: Path, outside: Path) -> Iterator[None]:
    """The folder is a folder and a link that leads out, in turn, as fast as can be."""
    link, kept, over = folder.with_name("link"), folder.with_name("kept"), threading.Event()
    link.symlink_to(outside)

    def swap() -> None:
        while not over.is_set():
            os.rename(folder, kept)
            os.rename(link, folder)
            os.rename(folder, link)
            os.rename(kept, folder)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture
def swapped(tmp_path: Path) -> Iterator[Path]:
    """A file in a root, in a folder that is being swapped for another outside."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    (root / "sub/a.txt").write_text("inside")
    (outside / "a.txt").write_text("outside")
    with swapping(root / "sub", outside):
        yield root / "sub/a.txt"


def test_a_folder_swapped_for_a_link_during_a_read_gives_nothing_from_outside(
    swapped: Path,
) -> None:
    files = FileProvider((str(swapped.parent.parent),), 1000)
    seen = set()
    for _ in range(READS):
        try:
            seen.add(files.read_path(str(swapped), "file:///x").data)
        except ProtocolError as refused:  # and nothing else: no reader gets a traceback
            seen.add(refused.message.encode())
    assert b"inside" in seen
    assert b"outside" not in seen


def test_a_folder_swapped_for_a_link_while_a_file_is_embedded_gives_nothing_from_outside(
    swapped: Path,
) -> None:
    root, seen = str(swapped.parent.parent), set()
    for _ in range(READS):
        try:
            block = embed(Named(str(swapped)), root, (root,), 1000)
            seen.add(block["resource"]["text"])
        except EmbeddingRefusal:
            seen.add("refused")
    assert "inside" in seen
    assert "outside" not in seen


@pytest.mark.parametrize("path", ["sub/link/a.txt", "sub/a-link.txt"])
def test_a_real_path_is_opened_only_while_no_part_of_it_is_a_link(
    tmp_path: Path, path: str
) -> None:
    (tmp_path / "sub/real").mkdir(parents=True)
    (tmp_path / "sub/real/a.txt").write_text("x")
    (tmp_path / "sub/link").symlink_to("real")
    (tmp_path / "sub/a-link.txt").symlink_to("real/a.txt")
    os.close(open_real(str(tmp_path / "sub/real/a.txt")))
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError):
        open_real(str(tmp_path / path))
    assert len(os.listdir("/proc/self/fd")) == before


def with_a_template(folder: Folder) -> Path:
    folder.write("resources/all.meta.json", {"name": "all", "uriTemplate": "file:///{path}"})
    folder.write("resources/a.txt", "inside")
    outside = folder.root.parent / "outside.txt"
    outside.write_text("outside")
    (folder.root / "resources/out.txt").symlink_to(outside)
    return outside


@pytest.mark.asyncio
async def test_what_may_not_be_read_cannot_be_subscribed_to(folder: Folder) -> None:
    outside = with_a_template(folder)
    leading_out = folder.root / "resources/out.txt"
    async with serving(folder.root) as server, over_http(server.url, OLD) as client:
        for path in (outside, leading_out, outside.with_name("missing")):
            params = {"uri": f"file://{path}"}
            assert await client.error("resources/subscribe", params) == await client.error(
                "resources/read", params
            )
        await client.result("resources/subscribe", {"uri": f"file://{folder.root}/resources/a.txt"})


@pytest.mark.asyncio
async def test_a_listen_stream_does_not_honour_what_may_not_be_read(folder: Folder) -> None:
    outside = with_a_template(folder)
    inside = f"file://{folder.root}/resources/a.txt"
    async with serving(folder.root) as server, over_http(server.url, NEW) as client:
        uris = [f"file://{outside}", inside]
        honoured = await client.subscribe(resourceSubscriptions=uris)
        assert honoured == {"resourceSubscriptions": [inside]}
