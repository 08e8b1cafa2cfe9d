"""Lay out files from a template folder, with names filled in. Never overwrites anything.

A template is a plain folder in `scaffolds/`. In its files, `@NAME@`, `@TITLE@` and `@PROGRAM@`
(the name we were called by) are replaced; in its file names, NAME is, and `dot.` at the start
becomes a dot.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from toolyard.errors import ConfigError

TEMPLATES = os.path.join(os.path.dirname(__file__), "scaffolds")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ConfigError.at(
            repr(name), "not a name: letters, digits, '-' and '_' only, at most 64 of them"
        )
    return name


def title_of(name: str) -> str:
    return " ".join(re.split(r"[-_]+", name)).strip().capitalize() or name


def lay_out(
    template: str,
    target: str,
    name: str,
    *,
    leave: tuple[str, ...] = (),
    program: str = "toolyard",
) -> list[str]:
    """Write a template's files below `target`, and return their paths. Never replaces a file."""
    words = {"@NAME@": name, "@TITLE@": title_of(name), "@PROGRAM@": program}
    files = {
        os.path.join(target, _file_name(relative, name)): _filled(template, relative, words)
        for relative in _files_of(template)
        if relative not in leave
    }
    for path in files:
        if os.path.lexists(path):
            raise ConfigError.at(path, "already exists; nothing was written")
    for path, content in files.items():
        write_file(path, content)
    return list(files)


def write_file(path: str, content: str) -> None:
    """Write a new file that nobody else can change: otherwise it would not be run."""
    make_folder(os.path.dirname(path))
    mode = 0o755 if content.startswith("#!") else 0o644
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(content)


def make_folder(path: str) -> None:
    """Make the folder and those above it; os.makedirs would leave the latter to the umask."""
    if os.path.isdir(path):
        return
    make_folder(os.path.dirname(path))
    os.mkdir(path, 0o755)


def template_lines(template: str, relative: str) -> list[str]:
    return _filled(template, relative, {}).splitlines()


def _files_of(template: str) -> Iterator[str]:
    root = os.path.join(TEMPLATES, template)
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root)


def _file_name(relative: str, name: str) -> str:
    folder, file = os.path.split(relative)
    if file.startswith("dot."):
        file = file.removeprefix("dot")
    return os.path.join(folder, file.replace("NAME", name))


def _filled(template: str, relative: str, words: dict[str, str]) -> str:
    with open(os.path.join(TEMPLATES, template, relative), encoding="utf-8") as stream:
        content = stream.read()
    for word, value in words.items():
        content = content.replace(word, value)
    return content
