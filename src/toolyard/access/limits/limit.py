"""What callers may do at most, as the settings say it. Counts nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolyard.access.globs import Matches, globs
from toolyard.access.rules import Who, read_who
from toolyard.access.subject import Subject
from toolyard.configuration.check import Findings, check
from toolyard.configuration.objects import shape
from toolyard.protocol.call import Call, JsonObject
from toolyard.protocol.codec import dumps
from toolyard.protocol.kinds import FAMILIES
from toolyard.store.interface import Rate


@dataclass(frozen=True, slots=True)
class Limit:
    """For each caller that it concerns; over what, or over everything."""

    callers: Who
    rate: Rate | None = None
    concurrent: int | None = None
    over: Mapping[str, Matches] | None = None
    # The same in every process that was given the same settings, wherever it stands among them.
    digest: str = ""

    def concerns(self, call: Call, subject: Subject) -> bool:
        if not self.callers.includes(call.caller):
            return False
        if self.over is None:
            return True
        matches = self.over.get(subject.kind)
        return matches is not None and any(map(matches, subject.spellings))

    def name(self, caller: str) -> str:
        """Of what is counted together: the calls of one caller under this limit."""
        return f"{self.digest} {caller}"


def read_limits(
    entries: Sequence[JsonObject], place: str, pointer: str = "/limits"
) -> tuple[Limit, ...]:
    """Raises ConfigError with every problem."""
    findings = Findings(place)
    check(list(entries), shape("access", "/$defs/limits"), findings, pointer)
    for number, entry in enumerate(entries):
        if isinstance(entry, dict) and not entry.keys() & {"calls", "concurrent"}:
            findings.problem(f"{pointer}/{number}", "says neither `calls` nor `concurrent`")
    findings.close()
    return tuple(map(_read, entries))


def _read(entry: JsonObject) -> Limit:
    over: dict[str, Matches] = {kind: globs(entry[kind]) for kind in FAMILIES if kind in entry}
    seconds = float(entry.get("seconds", 60))
    return Limit(
        read_who(entry.get("for", {})),
        Rate(int(entry["calls"]), seconds) if "calls" in entry else None,
        entry.get("concurrent"),
        over or None,
        hashlib.sha256(dumps(entry)).hexdigest()[:16],
    )
