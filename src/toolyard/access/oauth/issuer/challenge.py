"""What a WWW-Authenticate header asks for. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SCHEME = re.compile(r"(?:^|,)\s*([A-Za-z][A-Za-z0-9-]*)(?=\s+[A-Za-z_]+\s*=|\s*$|\s*,)")
_PARAMETER = re.compile(r'([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the server said it wants; empty where it did not say."""

    scopes: tuple[str, ...] = ()
    resource_metadata: str | None = None
    error: str = ""


def read_challenge(header: str) -> Wanted:
    parameters = _bearer_parameters(header[:8192])
    return Wanted(
        tuple(parameters.get("scope", "").split()),
        parameters.get("resource_metadata"),
        parameters.get("error", ""),
    )


def _bearer_parameters(header: str) -> dict[str, str]:
    starts = [(match.start(1), match.group(1)) for match in _SCHEME.finditer(header)]
    for position, (start, scheme) in enumerate(starts):
        if scheme.lower() == "bearer":
            end = starts[position + 1][0] if position + 1 < len(starts) else len(header)
            matches = _PARAMETER.finditer(header[start + len(scheme) : end])
            return {m.group(1).lower(): _value(m) for m in matches}
    return {}


def _value(match: re.Match[str]) -> str:
    text = match.group(2)
    return match.group(3) if text is None else _ESCAPED.sub(r"\1", text)
