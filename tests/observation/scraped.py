"""What `/metrics` says, read by a parser of our own; promtool reads it in a test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tests.peers.http1 import fetch
from tests.peers.serving import Listening

LINE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)\Z")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Scraped:
    text: str

    def value(self, name: str, **labels: str) -> float:
        """The sum of every series of that name with these labels."""
        return sum(value for _, value in self.series(name, **labels))

    def series(self, name: str, **labels: str) -> list[tuple[Mapping[str, str], float]]:
        found: list[tuple[Mapping[str, str], float]] = []
        for line in self.text.splitlines():
            match = LINE.match(line)
            if match is None or match[1] != name:
                continue
            have = dict(LABEL.findall(match[2] or ""))
            if labels.items() <= have.items():
                found.append((have, float(match[3])))
        return found


async def scrape(server: Listening, headers: Mapping[str, str] | None = None) -> Scraped:
    async with fetch("GET", f"{server.origin}/metrics", headers or {}) as answer:
        assert answer.status == 200, answer.status
        return Scraped((await answer.body()).decode())
