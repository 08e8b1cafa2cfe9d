"""Read settings: flags win over the environment, the environment over the file.

Knows no single knob by name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from toolyard.errors import ConfigError, Problem, did_you_mean
from toolyard.settings.knob import Knob
from toolyard.settings.table import Settings, ValuePlace, knobs

FILE_NAME = "toolyard.json"
# A file of this name asks for the debug level where nothing else does.
DEBUG_MARK = "server.d/.debug"
_PREFIXES = ("MCP", "TOOLYARD_")
# Where a value stands, which setting it is for (None where there is no such), and the value.
_Row = tuple[ValuePlace, Knob[Any] | None, object]


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
    places: dict[str, ValuePlace] = {}
    layers = (_from_file(file, project), _from_environment(environ), _from_flags(flags or {}))
    for layer in layers:
        for place, knob, raw in layer:
            if knob is None:
                problems.append(Problem(*place, _unknown(place)))
                continue
            try:
                values[knob.name] = knob.kind.parse(raw)
                places[knob.name] = place
            except ValueError as error:
                instead = "" if knob.secret else f", not {raw!r}"
                problems.append(Problem(*place, f"{error}{instead}"))
    if problems:
        raise ConfigError(_with_lines(problems))
    if "log_level" not in values and project and os.path.exists(os.path.join(project, DEBUG_MARK)):
        values["log_level"] = "debug"
    return Settings(places, **values)


def _from_flags(flags: Mapping[str, object]) -> Iterator[_Row]:
    for name, value in flags.items():
        yield ValuePlace(f"--{name.replace('_', '-')}", ""), _knob_named(name), value


def _from_environment(environ: Mapping[str, str]) -> Iterator[_Row]:
    variables = {
        name: value for name, value in environ.items() if value and name.startswith(_PREFIXES)
    }
    if not variables:
        return
    for knob in knobs():
        variable = knob.own_variable if knob.own_variable in variables else knob.variable
        if variable in variables:
            yield ValuePlace(variable, ""), knob, variables[variable]


def _from_file(file: str | None, project: str | None) -> Iterator[_Row]:
    path = file or (os.path.join(project, FILE_NAME) if project else "")
    if not path or (not file and not os.path.exists(path)):
        return
    # Most starts have no file.
    from toolyard.files.objects import read_object  # noqa: PLC0415
    from toolyard.files.pointers import escape  # noqa: PLC0415

    for key, value in read_object(path).items():
        if not key.startswith("$"):
            yield ValuePlace(path, f"/{escape(key)}"), _knob_named(key), value


def _knob_named(key: str) -> Knob[Any] | None:
    folded_key = _folded(key)
    return next((knob for knob in knobs() if _folded(knob.name) == folded_key), None)


def _unknown(place: ValuePlace) -> str:
    key = place.pointer[1:] or place.file
    near = did_you_mean(key, (knob.file_key for knob in knobs()), quote="'")
    return f"no setting named {key!r}{near}"


def _with_lines(problems: list[Problem]) -> list[Problem]:
    from toolyard.configuration.check import with_lines  # noqa: PLC0415 - only for a mistake

    return with_lines(problems)


def _folded(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()
