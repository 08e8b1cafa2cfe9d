"""Removing files and folders; what is gone already is not an error."""

from __future__ import annotations

import os


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:  # gone, or no longer a file: `reset` sees it
        pass


def remove_unfinished(path: str, *names: str) -> None:
    """Remove a folder with at most these files, without a descriptor: there may be none left."""
    for name in names:
        remove(f"{path}/{name}")
    try:
        os.rmdir(path)
    except OSError:  # it was not even made
        pass


def remove_folder(path: str) -> None:
    import shutil  # noqa: PLC0415 (imports every compressor, which a start should not)

    shutil.rmtree(path, ignore_errors=True)
