"""A file of variables, one `NAME=value` a line, quoted as a shell would: read, and written."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping

from toolyard.errors import ConfigError
from toolyard.files.foreign.exchange import exchange, look

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_OTHERS_MAY_READ = 0o077


def load_env_file(path: str) -> None:
    """Variables that are set already stay as they are. Raises ConfigError."""
    if os.path.exists(path) and os.stat(path).st_mode & _OTHERS_MAY_READ:
        raise ConfigError.at(path, "can be read or written by others: chmod 600")
    for name, value in read_env_file(path).items():
        os.environ.setdefault(name, value)


def read_env_file(path: str) -> dict[str, str]:
    """Raises ConfigError."""
    try:
        with open(path, encoding="utf-8") as stream:
            words = shlex.split(stream.read(), comments=True)
    except OSError as error:
        raise ConfigError.at(path, f"cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ConfigError.at(path, f"is not a file of NAME=value lines: {error}") from None
    matches = {word: _ASSIGNMENT.fullmatch(word) for word in words if word != "export"}
    for number, match in enumerate(matches.values(), 1):
        if match is None:  # without the word itself: it may be a secret
            raise ConfigError.at(path, f"its assignment {number} is not NAME=value")
    return {match[1]: match[2] for match in matches.values() if match is not None}


def add_to_env_file(path: str, variables: Mapping[str, str]) -> None:
    """Adds those that are not in it; a new file is readable by nobody else. Raises ConfigError."""
    try:
        original = look(path)
        known = read_env_file(path) if original.data is not None else {}
        new = {name: value for name, value in variables.items() if name not in known}
        lines = "".join(f"{name}={shlex.quote(value)}\n" for name, value in new.items())
        if new:
            exchange(original, original.content + lines.encode(), 0o600)
    except ValueError as error:
        raise ConfigError.at(path, str(error)) from None
    except OSError as error:
        raise ConfigError.at(path, f"cannot be written: {error.strerror}") from None
