"""The one check of a configuration object: against its schema, each mistake with its place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from toolyard.configuration.shapes import Shape
from toolyard.errors import ConfigError, Problem, did_you_mean
from toolyard.files.pointers import escape

if TYPE_CHECKING:
    from toolyard.files.placed_lines import PlacedLines


class Findings:
    """What is wrong with one file, gathered before any of it is said."""

    def __init__(self, file: str, data: bytes | None = None) -> None:
        self.file = file
        self.problems: list[Problem] = []
        # What is ignored, and need not be wrong.
        self.notes: list[str] = []
        self._data = data  # what is in the file, where that has been read

    def problem(self, pointer: str, message: str) -> None:
        self.problems.append(Problem(self.file, pointer, message, self.line(pointer)))

    def note(self, pointer: str, message: str) -> None:
        self.notes.append(f"{self.file}#{pointer}: {message}")

    def line(self, pointer: str) -> int | None:
        return self._lines.line(pointer)

    def close(self) -> None:
        """Raises ConfigError where something is wrong."""
        if self.problems:
            raise ConfigError(self.problems)

    @cached_property
    def _lines(self) -> PlacedLines:
        # Most files have no mistake, and a start does without this.
        from toolyard.files.placed_lines import PlacedLines  # noqa: PLC0415

        if self._data is None:
            try:
                with open(self.file, "rb") as stream:
                    self._data = stream.read()
            except (OSError, ValueError):
                self._data = b""  # not a file: a variable, a flag
        return PlacedLines(self._data.decode(errors="replace"))


def with_lines(problems: Sequence[Problem]) -> list[Problem]:
    """The same, each with its line where it stands in a file of several."""
    files: dict[str, Findings] = {}
    for problem in problems:
        files.setdefault(problem.file, Findings(problem.file))
    return [
        problem._replace(line=files[problem.file].line(problem.pointer)) for problem in problems
    ]


def check(
    value: Any,
    shape: Shape,
    findings: Findings,
    pointer: str = "",
    *,
    apart: Collection[str] = (),
) -> Any:
    """The value without what is wrong in it, which the findings name; None where all of it is.

    A member that is null, where the schema allows that, is one that is not there. One that the
    schema does not know is wrong where it allows no others, and otherwise noted and left out.
    What is inside the members `apart` is left to the caller.
    """
    if not shape.fits(value):
        findings.problem(pointer, shape.message)
        return None
    if apart:
        members = {key: _whole(m) if key in apart else m for key, m in shape.members.items()}
        shape = shape._replace(members=members)
    return _inside(value, shape, findings, pointer)


def _whole(shape: Shape) -> Shape:
    return shape._replace(deep=False)


def _inside(value: Any, shape: Shape, findings: Findings, pointer: str) -> Any:
    """Of a value that fits by itself."""
    if not shape.deep:
        return value
    if isinstance(value, dict):
        return _members(value, shape, findings, pointer)
    if isinstance(value, list) and shape.elements is not None:
        return _elements(value, shape.elements, findings, pointer)
    return value


def _elements(raw: list[Any], shape: Shape, findings: Findings, pointer: str) -> list[Any]:
    return [check(value, shape, findings, f"{pointer}/{i}") for i, value in enumerate(raw)]


def _members(raw: dict[str, Any], shape: Shape, findings: Findings, pointer: str) -> dict[str, Any]:
    """What is wrong with the members themselves is found before what is wrong inside them."""
    sound: dict[str, Any] = {}
    deep: list[tuple[str, Shape]] = []
    members, rest = shape.members, shape.rest
    for key, value in raw.items():
        member = members.get(key, rest)
        if member is None:
            _unknown(key, shape, findings, f"{pointer}/{escape(key)}")
        elif value is None and (member.fits(None) or key in shape.required):
            continue
        elif not member.fits(value):
            findings.problem(f"{pointer}/{escape(key)}", member.message)
        else:
            sound[key] = value
            if member.deep:
                deep.append((key, member))
    for key in shape.required:
        if key not in sound:
            _missing(key, raw, shape, findings, pointer)
    for key, member in deep:
        sound[key] = _inside(raw[key], member, findings, f"{pointer}/{escape(key)}")
    return sound


def _missing(key: str, raw: dict[str, Any], shape: Shape, findings: Findings, pointer: str) -> None:
    if shape.missing:
        findings.problem(pointer, shape.missing)
    elif raw.get(key) is None:
        findings.problem(f"{pointer}/{escape(key)}", shape.members[key].message)


def _unknown(key: str, shape: Shape, findings: Findings, pointer: str) -> None:
    near = did_you_mean(key, shape.members)
    if shape.closed:
        findings.problem(pointer, f'there is no key "{key}"{near}')
    elif key != "$comment":
        findings.note(pointer, f"unknown key, ignored{near}")
