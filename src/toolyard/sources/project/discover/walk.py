"""Walk a folder of entries: at most three levels, nothing hidden, no link that leads out.

Knows file names and stamps; does not know what an entry is.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from errno import EPERM
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import NamedTuple

from toolyard.files.beneath import is_below
from toolyard.files.stamp import changed_at, path_changed_at
from toolyard.sources.shortage import raise_if_short

MAX_DEPTH = 3
META_SUFFIX = ".meta.json"
# Path -> when it last changed.
Stamps = dict[str, int]


class File(NamedTuple):
    name: str
    path: str
    stamp: int
    executable: bool


class Folder(NamedTuple):
    path: str
    relative: str  # to the root of the walk, as it is named there; "" for the root itself
    files: Mapping[str, File]


class Contents(NamedTuple):
    """What a walk has found in one folder."""

    stamp: int  # the folder's own
    files: dict[str, File]
    below: dict[str, str]
    stamps: Stamps


class Remembered:
    """What walks have found in each folder, and which of them are to be read again."""

    def __init__(self) -> None:
        self.folders: dict[str, Contents] = {}
        # None: all. Others hold no file that was written to since, as far as their reader knows.
        self.doubted: Collection[str] | None = None

    def trusted(self, folder: str, stamp: int) -> Contents | None:
        if self.doubted is None or folder in self.doubted:
            return None
        contents = self.folders.get(folder)
        return contents if contents is not None and contents.stamp == stamp else None

    def keep(self, folder: str, contents: Contents) -> Contents:
        """What is still the same stays the same object, and with it what was made of it."""
        former = self.folders.get(folder)
        if former is not None and former == contents:
            return former
        self.folders[folder] = contents
        return contents


class Walk:
    """One walk. What it passes is recorded in `stamps`, what it refuses in `warnings`."""

    def __init__(self, root: str, only: str = "", remembered: Remembered | None = None) -> None:
        self.root = os.path.realpath(root)
        self.only = os.path.realpath(only) if only else ""
        self.stamps: Stamps = {}
        self.warnings: list[str] = []
        self._remembered = remembered if remembered is not None and not only else Remembered()

    def folders(self) -> Iterator[Folder]:
        """Depth first, by name."""
        self.stamps[self.root] = path_changed_at(self.root)
        return self._from([(self.root, "", 0)])

    def folders_below(self, paths: list[str]) -> Iterator[Folder]:
        """The same for some of the folders in the root. No links."""
        queue = []
        for path in reversed(paths):
            status = os.lstat(path)
            if S_ISDIR(status.st_mode):
                self.stamps[path] = changed_at(status)
                queue.append((path, os.path.basename(path), 1))
        return self._from(queue)

    def _from(self, queue: list[tuple[str, str, int]]) -> Iterator[Folder]:
        while queue:
            path, relative, depth = queue.pop()
            files, below = self._contents(path)
            yield Folder(path, relative, files)
            if below and depth < MAX_DEPTH:
                under = f"{relative}/" if relative else ""
                subfolders = [(real, under + name, depth + 1) for name, real in below.items()]
                queue += reversed(subfolders)

    def _contents(self, folder: str) -> tuple[dict[str, File], dict[str, str]]:
        stamp = self.stamps[folder]
        former = self._remembered.trusted(folder, stamp)
        if former is not None:
            self.stamps.update(former.stamps)
            return former.files, former.below
        doubts = len(self.warnings)
        contents = Contents(stamp, {}, {}, {})
        links = self._sort_out(folder, contents)
        self.stamps.update(contents.stamps)
        # Not what is warned of each time, nor links: what they lead to changes elsewhere.
        if not links and len(self.warnings) == doubts:
            contents = self._remembered.keep(folder, contents)
        return contents.files, contents.below

    # Runs for each file of a project. One lstat a name costs less than scandir and a stat a
    # file, and it dates folders as well.
    def _sort_out(self, folder: str, contents: Contents) -> int:
        """How many links were followed."""
        _, files, below, stamps = contents
        links = 0
        for name in self._names(folder):
            path = f"{folder}/{name}"
            try:
                status = os.lstat(path)
                if S_ISLNK(status.st_mode):
                    path, status = self._followed(path)
                    links += 1
            except OSError as error:
                raise_if_short(error, path)
                self.warnings.append(f"{path}: skipped: {error.strerror}")
                continue
            if S_ISREG(status.st_mode):
                stamp = stamps[path] = changed_at(status)
                files[name] = File(name, path, stamp, status.st_mode & 0o111 != 0)
            elif S_ISDIR(status.st_mode):
                stamps[path] = changed_at(status)
                below[name] = path
        return links

    def _names(self, folder: str) -> list[str]:
        """What is in a folder, but for hidden, misnamed and unwanted names."""
        try:
            names = sorted(os.listdir(folder))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise_if_short(error, folder)
            self.warnings.append(f"{folder}: cannot be read: {error.strerror}")
            return []
        visible = [name for name in names if name[0] != "."]
        if not "".join(visible).isprintable():
            visible = [name for name in visible if self._is_plain(folder, name)]
        if self.only:
            visible = [name for name in visible if self._wanted(f"{folder}/{name}")]
        return visible

    def _is_plain(self, folder: str, name: str) -> bool:
        if is_plain(name):
            return True
        self.warnings.append(f"{f'{folder}/{name}'!r}: skipped: control characters in its name")
        return False

    def _followed(self, path: str) -> tuple[str, os.stat_result]:
        real = os.path.realpath(path)
        if not is_below(real, self.root):
            raise OSError(EPERM, "a link that leads outside")
        return real, os.stat(real)

    def relative(self, file: File) -> str:
        """The real place of a file below the root."""
        return file.path[len(self.root) + 1 :]

    def _wanted(self, path: str) -> bool:
        """On the way to the path that the scan is narrowed to, or below it."""
        return is_below(path, self.only) or is_below(self.only, path)


def is_plain(name: str) -> bool:
    """No control characters and nothing that is not UTF-8."""
    return name.isprintable() or all(
        char >= " " and char != "\x7f" and not "\ud800" <= char <= "\udfff" for char in name
    )


def shown(path: str) -> str:
    return path if is_plain(path) else repr(path)


def stem_of(name: str) -> str:
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else name


def metadata_file(folder: Folder, name: str) -> File | None:
    """`tool.sh.meta.json`, else `tool.meta.json`."""
    files = folder.files
    if len(files) < 2:
        return None
    return files.get(name + META_SUFFIX) or files.get(stem_of(name) + META_SUFFIX)


def is_document(name: str) -> bool:
    """Files that come with a project and are not entries of it."""
    return name.startswith(("README", "LICENSE")) or name == "smoke.sh"
