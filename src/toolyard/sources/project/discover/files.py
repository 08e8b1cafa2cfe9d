"""What kind of file is this: a document, a program, a completion; which type by its name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from toolyard.sources.project.discover.metadata import head
from toolyard.sources.project.discover.walk import META_SUFFIX, File, Folder, is_document, stem_of

PROGRAM_STARTS = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
COMPLETION_SUFFIXES = (".completion.sh", ".completion")
# Common types, without the cost of the system's table at start.
_TYPES: Mapping[str, str] = {
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".html": "text/html",
    ".htm": "text/html",
    ".css": "text/css",
    ".csv": "text/csv",
    ".xml": "application/xml",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".toml": "application/toml",
    ".js": "text/javascript",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".svg": "image/svg+xml",
    ".ico": "image/x-icon",
    ".pdf": "application/pdf",
    ".zip": "application/zip",
    ".gz": "application/gzip",
    ".mp3": "audio/mpeg",
    ".wav": "audio/wav",
    ".ogg": "audio/ogg",
    ".mp4": "video/mp4",
    ".bin": "application/octet-stream",
}


def type_by_name(name: str) -> str:
    return _TYPES.get(os.path.splitext(name)[1].lower(), "text/plain")


def is_program(file: File) -> bool:
    """Executable, and something that a system can execute: a text with that bit is data."""
    return file.executable and head(file.path, 4).startswith(PROGRAM_STARTS)


def entries_in(folder: Folder) -> Iterator[File]:
    """The files of a folder that can be entries."""
    for name, file in folder.files.items():
        if not name.endswith((META_SUFFIX, *COMPLETION_SUFFIXES)) and not is_document(name):
            yield file


def completion_beside(folder: Folder, name: str) -> File | None:
    """`notes.txt.completion.sh`, `notes.completion.sh`, or either without `.sh`."""
    for stem in (name, stem_of(name)):
        for suffix in COMPLETION_SUFFIXES:
            file = folder.files.get(stem + suffix)
            if file is not None and file.executable:
                return file
    return None
