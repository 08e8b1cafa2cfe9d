"""Random keys of sessions. Imports next to nothing: one may be given before there is a server."""

from __future__ import annotations

import base64
import os

_BYTES = 24


def new_key() -> str:
    """Nobody guesses it."""
    return base64.urlsafe_b64encode(os.urandom(_BYTES)).decode()
