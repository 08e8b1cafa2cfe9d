"""Logs go to stderr, never stdout, one line per record; nothing in a record can forge another.

And the one way in which secrets are masked, in logs and everywhere else.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

# What is shown in place of a secret.
MASK = "***"
# Masking a value of one or two characters would garble all text and hide nothing.
SHORTEST_SECRET = 3
LogFormat = Literal["text", "json"]
_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F, *range(0x80, 0xA0))}
_ESCAPES.update({0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t", 0x2028: "\\u2028", 0x2029: "\\u2029"})


def logger(name: str) -> logging.Logger:
    return logging.getLogger(f"toolyard.{name}")


def one_line(text: str) -> str:
    """Control characters spelled out: untrusted text cannot start a new record."""
    return text.translate(_ESCAPES)


class Mask:
    """Replaces secrets in text that somebody will read: as they are, in JSON and in URLs."""

    __slots__ = ("_spellings",)

    def __init__(self, secrets: Iterable[str]) -> None:
        spellings = {
            spelling
            for secret in secrets
            if len(secret) >= SHORTEST_SECRET
            for spelling in _spellings(secret)
        }
        # Longest first: a secret may begin with another one, and none of it must stay.
        self._spellings = sorted(spellings, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for spelling in self._spellings:
            text = text.replace(spelling, MASK)
        return text


def masked(text: str, secrets: Iterable[str]) -> str:
    """For one text; for several make a Mask."""
    return Mask(secrets)(text)


def each_text(
    value: Any, change: Callable[[str], str], change_key: Callable[[str], str] = str
) -> Any:
    """A copy of a JSON value with every text in it changed, and every key where that is asked."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change_key(key): each_text(part, change, change_key) for key, part in value.items()}
    if isinstance(value, list):
        return [each_text(part, change, change_key) for part in value]
    return value


def _spellings(secret: str) -> tuple[str, ...]:
    import json  # noqa: PLC0415 - few starts have secrets
    from urllib.parse import quote  # noqa: PLC0415

    in_json = json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]
    return secret, *in_json, quote(secret, safe="", errors="replace")


class TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        line = f"{when} {record.levelname.lower():7} {one_line(record.getMessage())}"
        return line + _traceback(self, record, "\n")


def _no_fields() -> Mapping[str, str]:
    return {}


class JsonFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__()
        self.more_fields: Callable[[], Mapping[str, str]] = _no_fields

    def format(self, record: logging.LogRecord) -> str:
        # json, not orjson: a logger must work before anything heavy is imported.
        import json  # noqa: PLC0415

        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **self.more_fields(),
        }
        trace = _traceback(self, record, "")
        if trace:
            fields["traceback"] = trace
        return json.dumps(fields, ensure_ascii=True)


def _traceback(formatter: logging.Formatter, record: logging.LogRecord, before: str) -> str:
    return before + formatter.formatException(record.exc_info) if record.exc_info else ""


def set_up(level: str = "info", log_format: LogFormat = "text", folder: str = "") -> None:
    """Send our records to stderr, and to a file if there is a folder. Called once per command."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if folder:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        handlers.append(logging.FileHandler(os.path.join(folder, "toolyard.log")))
    for handler in handlers:
        handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    root = logging.getLogger("toolyard")
    root.handlers[:] = handlers
    root.propagate = False
    root.setLevel(_PYTHON_LEVELS.get(level, logging.INFO))


def add_fields(fields: Callable[[], Mapping[str, str]]) -> None:
    """What JSON lines say beside their message from now on: what it belongs to."""
    for handler in logging.getLogger("toolyard").handlers:
        if isinstance(handler.formatter, JsonFormatter):
            handler.formatter.more_fields = fields


# MCP's levels (syslog's) in Python's terms.
_PYTHON_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "notice": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
    "alert": logging.CRITICAL,
    "emergency": logging.CRITICAL,
}


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
