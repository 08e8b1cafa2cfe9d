"""Read a large folder of tools with two processors: a child reads the second half of it.

Knows folders and metadata files; what they mean, the parent finds out. Only for a process
without threads: the first list of a server that has just started.
"""

from __future__ import annotations

import gc
import marshal
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import NoReturn

from toolyard.sources.project.discover.metadata import Metadata, MetadataError
from toolyard.sources.project.discover.walk import META_SUFFIX, Contents, File, Remembered, Walk

# Below this a child costs more than it reads.
MANY = 1000


class ReadAhead:
    """Around a scan: a child, where there is enough to read and a processor to spare."""

    def __init__(self, root: str, metadata: Metadata) -> None:
        self._root = os.path.realpath(root)
        self._metadata = metadata
        self._ahead: Ahead | None = None

    def __enter__(self) -> None:
        share = self._share() if _has_two_processors() else []
        if share and os.path.isdir(share[0]):
            with suppress(OSError):  # where there is no process to spare, we read everything
                self._ahead = Ahead(self._root, share, self._metadata)
                self._metadata.folders = self._ahead

    def __exit__(self, *_error: object) -> None:
        if self._ahead is not None:
            self._ahead.take_over()

    def _share(self) -> list[str]:
        try:
            names = sorted(os.listdir(self._root))
        except OSError:
            return []
        half = names[len(names) // 2 :] if len(names) >= MANY else []
        return [f"{self._root}/{name}" for name in half]


class Ahead(Remembered):
    """Remembers what the child has read; waits for the child when the first of it is asked for."""

    def __init__(self, root: str, share: list[str], metadata: Metadata) -> None:
        super().__init__()
        self._metadata = metadata
        self._first = share[0]
        self._file = os.memfd_create("toolyard-ahead")
        try:
            self._child = os.fork()
        except OSError:
            os.close(self._file)
            raise
        if self._child == 0:
            _read(root, share, self._file)

    def trusted(self, folder: str, stamp: int) -> Contents | None:
        if self._child and folder >= self._first:
            self.take_over()
        return super().trusted(folder, stamp)

    def take_over(self) -> None:
        if not self._child:
            return
        os.waitpid(self._child, 0)
        self._child = 0
        with open(self._file, "rb") as stream:
            stream.seek(0)
            content = stream.read()
        if not content:
            return
        folders, metadata = marshal.loads(content)
        self._metadata.known.update(metadata)
        self.doubted = ()
        for path, (stamp, files, below, stamps) in folders.items():
            files_by_name = {name: File(*file) for name, file in files.items()}
            self.folders[path] = Contents(stamp, files_by_name, below, stamps)


def _read(root: str, share: list[str], file: int) -> NoReturn:
    """The life of the child. What it cannot read, the parent reads, and says so."""
    gc.disable()
    try:
        metadata = Metadata()
        for folder in Walk(root, remembered=metadata.folders).folders_below(share):
            _read_metadata(folder.files.values(), metadata)
        folders = {
            path: (stamp, {name: tuple(f) for name, f in files.items()}, below, stamps)
            for path, (stamp, files, below, stamps) in metadata.folders.folders.items()
        }
        with open(file, "wb") as stream:
            stream.write(marshal.dumps((folders, metadata.known)))
    finally:
        os._exit(0)


def _read_metadata(files: Iterable[File], metadata: Metadata) -> None:
    for file in files:
        if file.name.endswith(META_SUFFIX):
            with suppress(MetadataError):
                metadata.read(file)


def _has_two_processors() -> bool:
    """And is this a system on which a child can hand over what it has read?"""
    if sys.platform != "linux" or not hasattr(os, "memfd_create"):
        return False
    return len(os.sched_getaffinity(0)) > 1
