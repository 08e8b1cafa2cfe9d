"""The file that the audit log is written to: lines in one of two formats, rotated when it is long.

Several processes may write to one file, and other programs may rotate it: whoever notices that
the file under this name is another one now goes on with that.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from toolyard import __version__
from toolyard.errors import ConfigError
from toolyard.files.whole import alone_in
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.codec import dumps
from toolyard.telemetry import logger

log = logger("audit")
MOST_LEFT = 1000
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND


@dataclass(frozen=True, slots=True)
class Rotation:
    """After how many bytes a file is put aside, and how many of those are kept."""

    size: int = 0  # 0: never
    keep: int = 5


NEVER = Rotation()


class AuditFile:
    """A file that only we can read; each line says when."""

    def __init__(self, path: str, form: str = "json", rotation: Rotation = NEVER) -> None:
        self._path = path
        self._line = FORMS[form]
        self._rotation = rotation
        try:
            self._open()
        except OSError as error:
            raise ConfigError.at(path, f"cannot be written: {error.strerror}") from None
        self._left: deque[bytes] = deque(maxlen=MOST_LEFT)  # what could not be written yet

    def _open(self) -> None:
        self._file = os.open(self._path, _FLAGS, 0o600)
        status = os.fstat(self._file)
        self._inode, self._is_plain = status.st_ino, stat.S_ISREG(status.st_mode)

    def write(self, fields: JsonObject) -> None:
        self._left.append(self._line(datetime.now(UTC), fields) + b"\n")
        self.flush()

    def flush(self) -> bool:
        """Has everything been written so far?"""
        try:
            if self._left and self._is_plain:
                self._follow()
            while self._left:
                # One write of a whole line: lines of several writers do not mix.
                size = os.write(self._file, self._left[0])
                line = self._left.popleft()
                if size < len(line):
                    self._left.appendleft(line[size:])
        except OSError as error:
            log.error("the audit log cannot be written: %s", error.strerror)
        return not self._left

    def _follow(self) -> None:
        """Make room if the file is long, and go on with the one that has its name now."""
        status = _status(self._path)
        if status is not None and 0 < self._rotation.size <= status.st_size:
            with alone_in(os.path.dirname(self._path)):
                now = _status(self._path)
                if now is not None and now.st_ino == status.st_ino:
                    self._put_aside()
            status = None
        if status is None or status.st_ino != self._inode:
            os.close(self._file)
            self._open()

    def _put_aside(self) -> None:
        names = [self._path, *(f"{self._path}.{n}" for n in range(1, self._rotation.keep + 1))]
        for older, newer in zip(reversed(names), reversed(names[:-1]), strict=False):
            if os.path.lexists(newer):
                os.replace(newer, older)
        if len(names) == 1:
            os.unlink(self._path)

    def close(self) -> None:
        os.close(self._file)


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _json(when: datetime, fields: JsonObject) -> bytes:
    return dumps({"time": when.isoformat(timespec="milliseconds"), **fields})


# What CEF calls a field of ours, in its dictionary.
_CEF_KEYS: Mapping[str, str] = {
    "caller": "suser",
    "name": "fname",
    "outcome": "outcome",
    "address": "src",
    "code": "reason",
    "more": "cnt",
    "arguments": "msg",
}
_SEVERITY = {"unauthorized": 7, "refused": 5, "failed": 5, "error": 3}


def _cef(when: datetime, fields: JsonObject) -> bytes:
    """ArcSight's common event format, version 0."""
    event = str(fields.get("method") or fields.get("outcome") or "call")
    severity = _SEVERITY.get(str(fields.get("outcome")), 1)
    head = ("CEF:0", "Toolyard", "toolyard", __version__, event, event, str(severity))
    pairs = [("rt", str(int(when.timestamp() * 1000)))]
    pairs += [
        (key, _cef_text(fields[name]))
        for name, key in _CEF_KEYS.items()
        if fields.get(name) is not None
    ]
    if "ms" in fields:
        pairs += [("cfp1", str(fields["ms"])), ("cfp1Label", "ms")]
    extension = " ".join(f"{key}={_escaped(value, '=')}" for key, value in pairs)
    return "|".join((*(_escaped(part, "|") for part in head), extension)).encode("utf-8", "replace")


def _cef_text(value: Json) -> str:
    return value if isinstance(value, str) else dumps(value).decode()


def _escaped(text: str, special: str) -> str:
    text = text.replace("\\", "\\\\").replace(special, f"\\{special}")
    return text.replace("\r", "\\r").replace("\n", "\\n")


FORMS: Mapping[str, Callable[[datetime, JsonObject], bytes]] = {"json": _json, "cef": _cef}
