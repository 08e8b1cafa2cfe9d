"""A registry file's content in the native form, whatever it was written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolyard.protocol.call import JsonObject


@dataclass(frozen=True, slots=True)
class Converted:
    format: str
    native: JsonObject
    # From pointers into the native form to pointers into the file as written.
    places: Mapping[str, str] = field(default_factory=dict)
    # (pointer into the native form, message): what cannot be converted at all.
    problems: tuple[tuple[str, str], ...] = ()
    # What the native form cannot express.
    lost: tuple[str, ...] = ()
    prefix_on_collision: bool = False
