"""The JSON Schema of the native format, for editors."""

from __future__ import annotations

from importlib.resources import files


def schema_text() -> str:
    """Kept as a file so that an editor can be pointed at it."""
    return files(__package__).joinpath("registry.schema.json").read_text(encoding="utf-8")
