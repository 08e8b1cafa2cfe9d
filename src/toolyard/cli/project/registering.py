"""Add an entry to server.d/register.json, keeping what is there."""

from __future__ import annotations

import json
import os

from toolyard.errors import ConfigError
from toolyard.files.objects import object_in
from toolyard.files.whole import write_whole
from toolyard.protocol.call import JsonObject
from toolyard.sources.project.layout import Project

FILE = "register.json"


def register_completion(project: Project, name: str, path: str) -> str:
    """Register a completion script; the file's path."""
    file = os.path.join(project.server, FILE)
    content = _read(file)
    completions = content.get("completions")
    if completions is None:
        completions = []
    if not isinstance(completions, list):
        raise ConfigError.at(file, "must be an array", "/completions")
    if not any(isinstance(entry, dict) and entry.get("name") == name for entry in completions):
        completions.append({"name": name, "path": path, "timeoutSecs": 5})
    _replace(file, {**content, "completions": completions})
    return file


def _read(file: str) -> JsonObject:
    try:
        with open(file, "rb") as stream:
            return object_in(stream.read())
    except FileNotFoundError:
        return {"version": 1}
    except (OSError, ValueError) as error:
        raise ConfigError.at(file, f"cannot be added to: {error}") from None


def _replace(file: str, content: JsonObject) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    write_whole(file, text.encode(), 0o644)
