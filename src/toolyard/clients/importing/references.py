"""Each client's way to refer to variables, in ours: `${VAR}` and `${VAR:-default}`. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from toolyard.clients.importing.entries_in import RawServer
from toolyard.telemetry import each_text

# `$` that means nothing: a variable that nobody sets, with a default.
_DOLLAR = "${TOOLYARD_DOLLAR:-$}"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_ANY = re.compile(r"\$\{\{?\s*([^}]*?)\s*\}\}?|\{(env|file):([^}]*)\}|\$(" + _NAME + ")")
# Clients that know `$VAR` without braces.
_BARE = {"gemini", "qwen", "copilot-cli", "crush"}
_PLAIN = re.compile(rf"({_NAME})(:-.*)?", re.DOTALL)


class Unknown(Exception):
    """A reference that only its client can resolve."""


def translated(native: dict[str, Any], raw: RawServer) -> dict[str, Any]:
    """The same server with our references. Raises Unknown."""
    inputs = {str(item.get("id")): item for item in raw.inputs}

    def replaced(match: re.Match[str]) -> str:
        return _reference(match, raw, inputs)

    return {
        key: part
        if key in ("expose", "disabled")
        else each_text(part, lambda text: _ANY.sub(replaced, text))
        for key, part in native.items()
    }


def _reference(match: re.Match[str], raw: RawServer, inputs: Mapping[str, dict[str, Any]]) -> str:
    client = raw.file.client
    if match[4] is not None:
        return f"${{{match[4]}}}" if client.id in _BARE else match[0]
    if match[2] is not None:
        if client.reference != "{env:VAR}":
            return match[0]
        return _of_variable(match[3]) if match[2] == "env" else _unknown(match[0])
    if client.reference in ("", "VAR") and client.id != "file":
        # Ours are told apart by having been made from a field that names a variable.
        return match[0] if _is_made(match[0], raw) else _DOLLAR + match[0][1:]
    return _braced(match, raw, inputs)


def _is_made(text: str, raw: RawServer) -> bool:
    return text not in repr(raw.entry)


def _braced(match: re.Match[str], raw: RawServer, inputs: Mapping[str, dict[str, Any]]) -> str:
    word = match[1]
    kind, colon, name = word.partition(":")
    folders = {"userHome": "${HOME}", "workspaceFolder": raw.file.project or "${PWD}"}
    name_of_project = os.path.basename(raw.file.project)
    literal = {"pathSeparator": "/", "/": "/", "workspaceFolderBasename": name_of_project}
    if match[0].startswith("${{"):
        return _of_variable(word.removeprefix("secrets."))
    if word in folders:
        return folders[word]
    if word in literal:
        return literal[word]
    if word == "CLAUDE_PROJECT_DIR" and raw.file.project:
        return raw.file.project
    if kind == "env" and colon:
        return _of_variable(name)
    if kind == "input" and colon:
        return _of_input(name, inputs.get(name, {}))
    if kind == "workspaceFolder" and colon:
        return folders["workspaceFolder"]
    plain = _PLAIN.fullmatch(word)
    return f"${{{plain[1]}{plain[2] or ''}}}" if plain else _unknown(match[0])


def _of_variable(name: str) -> str:
    return f"${{{name}}}" if re.fullmatch(_NAME, name) else _unknown(name)


def _of_input(name: str, item: Mapping[str, Any]) -> str:
    if item.get("type") == "command":
        raise Unknown(f"asks the result of a command of its client for {name}")
    variable = "INPUT_" + re.sub(r"[^A-Za-z0-9]", "_", name).upper()
    default = item.get("default")
    has_default = isinstance(default, str) and default and not item.get("password")
    return f"${{{variable}:-{default}}}" if has_default else f"${{{variable}}}"


def _unknown(text: str) -> str:
    raise Unknown(f"refers to {text}, which only its client can resolve")
