"""What a shell file exports, read in a bash child: it never runs in our process."""

from __future__ import annotations

import os
from collections.abc import Mapping

from toolyard.errors import ConfigError
from toolyard.processes.shell import TookTooLong, bash

_TIMEOUT = 20.0
# `set -a` exports plain assignments too: such files are often just NAME=value lines.
_READ = 'set -a; . "$1" >&2 || exit 97; env -0'
_OF_THE_SHELL = frozenset({"_", "SHLVL", "PWD", "OLDPWD"})


def exports_of(path: str, environ: Mapping[str, str], cwd: str | None = None) -> dict[str, str]:
    """The variables that sourcing the file sets or changes. Raises ConfigError."""
    if not os.path.isfile(path):
        raise ConfigError.at(path, "no such file")
    try:
        result = bash(_READ, [os.path.abspath(path)], timeout=_TIMEOUT, env=environ, cwd=cwd)
    except FileNotFoundError:
        raise ConfigError.at(path, "needs bash, which is not installed") from None
    except TookTooLong as error:
        raise ConfigError.at(path, str(error)) from None
    if result.code:
        raise ConfigError.at(path, f"failed with exit code {result.code}")
    return _changed(result.output, environ)


def _changed(output: bytes, environ: Mapping[str, str]) -> dict[str, str]:
    pairs = (os.fsdecode(part).partition("=") for part in output.split(b"\0") if part)
    return {
        name: value
        for name, _, value in pairs
        if name not in _OF_THE_SHELL and environ.get(name) != value
    }
