"""Warnings of discovery, as clients hear of them: which part of the project each is about."""

from __future__ import annotations

from toolyard.files.beneath import is_below
from toolyard.sources.project.layout import Project

_PARTS = ("tools", "resources", "prompts", "completions", "providers", "ui", "server")


def part_of(project: Project, warning: str) -> str | None:
    """The part whose folder the warning begins with; None where it is not about the project."""
    place = warning.partition(":")[0]
    for part in _PARTS:
        if is_below(place, getattr(project, part)):
            return part
    return None


def logger_of(project: Project, warning: str) -> str | None:
    part = part_of(project, warning)
    return f"mcp.{part}" if part is not None else None
