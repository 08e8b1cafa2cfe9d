"""Read settings: flags win over the environment, the environment over the file.

Knows no single knob by name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from toolyard.errors import ConfigError, Problem, did_you_mean
from toolyard.settings.knob import Knob
from toolyard.settings.table import Settings, knobs

FILE_NAME = "toolyard.json"
# A file of this name asks for the debug level where nothing else does.
DEBUG_MARK = "server.d/.debug"
_PREFIXES = ("MCP", "TOOLYARD_")
_Row = tuple[str, str, Knob[Any], object]


def load(
    *,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] = os.environ,
    file: str | None = None,
    project: str | None = None,
) -> Settings:
    """Flags (by attribute name) win over the environment, the environment over the file.

    Raises ConfigError with every problem found.
    """
    problems: list[Problem] = []
    values: dict[str, object] = {}
    layers = (_from_file(file, project), _from_environment(environ), _from_flags(flags or {}))
    for layer in layers:
        for place, pointer, knob, raw in layer:
            try:
                values[knob.name] = knob.kind.parse(raw)
            except ValueError as error:
                instead = "" if knob.secret else f", not {raw!r}"
                problems.append(Problem(place, pointer, f"{error}{instead}"))
    if problems:
        raise ConfigError(problems)
    if "log_level" not in values and project and os.path.exists(os.path.join(project, DEBUG_MARK)):
        values["log_level"] = "debug"
    return Settings(**values)


def _from_flags(flags: Mapping[str, object]) -> Iterator[_Row]:
    for name, value in flags.items():
        yield f"--{name.replace('_', '-')}", "", _knob_named(name, "flags", ""), value


def _from_environment(environ: Mapping[str, str]) -> Iterator[_Row]:
    variables = {
        name: value for name, value in environ.items() if value and name.startswith(_PREFIXES)
    }
    if not variables:
        return
    for knob in knobs():
        variable = knob.own_variable if knob.own_variable in variables else knob.variable
        if variable in variables:
            yield variable, "", knob, variables[variable]


def _from_file(file: str | None, project: str | None) -> Iterator[_Row]:
    path = file or (os.path.join(project, FILE_NAME) if project else "")
    if not path or (not file and not os.path.exists(path)):
        return
    from toolyard.files.objects import read_object  # noqa: PLC0415 - most starts have no file

    for key, value in read_object(path).items():
        if not key.startswith("$"):
            yield path, f"/{key}", _knob_named(key, path, f"/{key}"), value


def _knob_named(key: str, place: str, pointer: str) -> Knob[Any]:
    folded_key = _folded(key)
    for knob in knobs():
        if _folded(knob.name) == folded_key:
            return knob
    near = did_you_mean(key, (knob.file_key for knob in knobs()), quote="'")
    raise ConfigError.at(place, f"no setting named {key!r}{near}", pointer)


def _folded(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()
