"""server.d/register.json: what a project registers by hand, read strictly.

One mistake and all of it is refused: a half-read registration would serve what nobody meant.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from toolyard.configuration.check import Findings, check
from toolyard.configuration.objects import shape
from toolyard.files.beneath import is_below
from toolyard.files.objects import object_in
from toolyard.files.safety import why_unsafe
from toolyard.protocol.codec import exact
from toolyard.protocol.kinds import SPELLED
from toolyard.protocol.values import JsonObject
from toolyard.settings import Settings
from toolyard.sources.project.layout import Project
from toolyard.sources.shortage import raise_if_short

LISTS = (*(spelling.key for spelling in SPELLED.values()), "completions")


class RegistrationError(Exception):
    """Why the whole registration is refused; names the file."""


class Registration(NamedTuple):
    """What is registered by hand; a list that is absent is left to discovery."""

    place: str
    lists: dict[str, list[JsonObject]]

    def get(self, key: str) -> list[JsonObject] | None:
        return self.lists.get(key)


def script_path(project: Project) -> str:
    return os.path.join(project.server, "register.sh")


def has_active_script(project: Project, settings: Settings) -> bool:
    """Is there a register.sh that decides what is served, and may it run?"""
    return (
        settings.allow_project_hooks
        and os.path.exists(script_path(project))
        and not os.path.lexists(os.path.join(project.server, "register.json"))
    )


def read_register_json(project: Project, max_bytes: int) -> Registration | None:
    """None where there is no such file."""
    path = os.path.join(project.server, "register.json")
    if not os.path.lexists(path):
        return None
    unsafe = why_unsafe(path, project.server, project.root)
    if unsafe is not None:
        raise RegistrationError(unsafe)
    data = _content(path, max_bytes)
    try:
        content = object_in(data, exact)
    except ValueError as error:
        raise RegistrationError(f"{path}: {error}") from None
    return Registration(path, checked_lists(content, Findings(path, data), project))


def _content(path: str, max_bytes: int) -> bytes:
    try:
        with open(path, "rb") as stream:
            raw = stream.read(max_bytes + 1)
    except OSError as error:
        raise_if_short(error, path)
        raise RegistrationError(f"{path}: cannot be read: {error.strerror}") from None
    if len(raw) > max_bytes:
        raise RegistrationError(f"{path}: exceeds {max_bytes} bytes")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise RegistrationError(f"{path}: begins with a byte order mark; save it without")
    return raw


def checked_lists(
    content: JsonObject, findings: Findings, project: Project
) -> dict[str, list[JsonObject]]:
    check(content, shape("project", "/$defs/register"), findings)
    if findings.problems:
        raise RegistrationError(str(findings.problems[0]))
    lists = {key: content[key] for key in LISTS if content.get(key) is not None}
    if "completions" in lists:
        lists["completions"] = _completions(lists["completions"], findings.file, project)
    return lists


def _completions(items: list[JsonObject], place: str, project: Project) -> list[JsonObject]:
    completions: dict[str, JsonObject] = {}
    for index, item in enumerate(items):
        name = item["name"].strip()
        if name in completions:
            raise RegistrationError(f"{place}#/completions/{index}/name: {name!r} is there twice")
        real = os.path.realpath(os.path.join(project.root, item["path"]))
        if not is_below(real, project.root) or not os.path.isfile(real):
            raise RegistrationError(
                f"{place}#/completions/{index}/path: {item['path']!r} is not a file of the project"
            )
        completions[name] = {**item, "name": name, "path": real}
    return list(completions.values())
