"""`${VAR}` and `${VAR:-default}` in a registry's values. Reads no environment itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from toolyard.protocol.call import Json

_VARIABLE = re.compile(
    r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<rest>:-(?P<default>(?:[^{}$]|\$\{[^{}]*\}|\$)*))?\}"
)
_VARIABLE_OR_ESCAPED = re.compile(rf"\$\$\{{|{_VARIABLE.pattern}")


@dataclass(slots=True)
class Variables:
    """Substitutes, and remembers which values came from a variable and which were not set."""

    environ: Mapping[str, str]
    # `$${VAR}` is the text `${VAR}`.
    escapes: bool = False
    secrets: set[str] = field(default_factory=set)
    missing: list[str] = field(default_factory=list)

    def fill(self, value: Json) -> Json:
        if isinstance(value, str):
            pattern = _VARIABLE_OR_ESCAPED if self.escapes else _VARIABLE
            return pattern.sub(self._replacement, value)
        if isinstance(value, dict):
            return {key: self.fill(member) for key, member in value.items()}
        if isinstance(value, list):
            return [self.fill(element) for element in value]
        return value

    def _replacement(self, match: re.Match[str]) -> str:
        if match["name"] is None:
            return match[0][1:]
        value = self.environ.get(match["name"])
        if value or (value is not None and match["rest"] is None):
            self.secrets.add(value)
            return value
        if match["rest"] is not None:
            return str(self.fill(match["default"]))
        self.missing.append(match["name"])
        return ""


def mentions_variable(text: str) -> bool:
    return _VARIABLE.search(text) is not None
