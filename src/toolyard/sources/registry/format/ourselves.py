"""Does a registry file start a server that would read the same file, and so itself, for ever?

A client's settings that name us are a registry file to us, and two files may name each other. So a
command line is looked at for what it would serve, and so are those of the processes that started
us, where the system shows them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache

from toolyard.sources.project.layout import REGISTRY_FILE, find_root
from toolyard.upstreams.definition import ServerDefinition

PROGRAMS = ("toolyard", "mcp-bash")
SERVING = ("serve", "debug")


def starts_itself(server: ServerDefinition, file: str) -> bool:
    """Would it read `file`, or what a process above us serves already?"""
    if server.command is None:
        return False
    folder = server.cwd or os.getcwd()
    would_read = registries_read_by((server.command, *server.args), folder)
    return bool(would_read & {os.path.realpath(file), *_read_above()})


def registries_read_by(argv: Sequence[str], folder: str) -> frozenset[str]:
    """The real paths of the registry files that a command line of ours would read."""
    arguments = _arguments(argv)
    if arguments is None:
        return frozenset()
    words = [os.path.join(folder, os.path.expanduser(word)) for word in arguments]
    paths = [path for path, word in zip(words, arguments, strict=True) if _is_path(path, word)]
    paths = paths or [root for root in [find_root(folder)] if root is not None]
    files = (os.path.join(path, REGISTRY_FILE) if os.path.isdir(path) else path for path in paths)
    return frozenset(os.path.realpath(path) for path in files)


def _is_path(path: str, word: str) -> bool:
    """One that leads nowhere is none of ours; a flag's value seldom looks like one."""
    return not word.startswith("-") and (os.sep in word or os.path.exists(path))


def _arguments(argv: Sequence[str]) -> list[str] | None:
    """What follows `toolyard serve`, however it is started; None if it is something else."""
    names = [os.path.basename(word) for word in argv]
    for at, name in enumerate(names):
        if name in PROGRAMS:
            rest = list(argv[at + 1 :])
            # `mcp-bash` alone serves too.
            return rest[1:] if rest[:1] and rest[0] in SERVING else [] if not rest else None
    return None


@cache
def _read_above() -> frozenset[str]:
    """What the processes that started us serve. They do not change while we run."""
    commands = (registries_read_by(argv, folder) for argv, folder in _ancestors())
    return frozenset(path for paths in commands for path in paths)


def _ancestors() -> Iterator[tuple[list[str], str]]:
    pid = os.getppid()
    with suppress(OSError, ValueError, IndexError):  # no /proc here, or somebody else's process
        while pid > 1:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                argv = [os.fsdecode(word) for word in file.read().split(b"\0") if word]
            yield argv, os.readlink(f"/proc/{pid}/cwd")
            with open(f"/proc/{pid}/stat", "rb") as file:
                pid = int(file.read().rpartition(b")")[2].split()[1])
