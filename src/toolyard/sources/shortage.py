"""The machine ran out of means to look: what was seen before still holds. Knows no file names."""

from __future__ import annotations

from errno import EAGAIN, EMFILE, ENFILE, ENOBUFS, ENOMEM

from toolyard.errors import ConfigError

_SHORT = frozenset({EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN})


class Shortage(ConfigError):
    """A file could not be read now and may be soon: no reason to take it for gone or wrong."""


def raise_if_short(error: OSError, path: str) -> None:
    """Raises Shortage."""
    if error.errno in _SHORT:
        raise Shortage.at(path, f"cannot be read: {error.strerror}") from None
