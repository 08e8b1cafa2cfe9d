"""One client and one upstream with the gateway between them, and what a check needs of them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from tests.strict.client import WITHIN, StrictClient
from tests.strict.conversation import Place
from tests.strict.schema import Json, JsonObject
from tests.until import until

Transport = Literal["stdio", "http"]


class Lost(Exception):
    """Something did not arrive as it should."""


class Told(Lost):
    """It could not be done, and whoever asked for it was told so, or got the nearest form."""


@dataclass(frozen=True)
class Peer:
    revision: str
    transport: Transport

    def __str__(self) -> str:
        return f"{self.revision} {self.transport}"


@dataclass
class Pairing:
    client: StrictClient
    us: Peer  # what the client is
    up: Peer
    place: Place  # the upstream's
    tag: str
    _read: int = 0
    notes: list[JsonObject] = field(default_factory=list)

    async def result(
        self, tool: str, meta: JsonObject | None = None, **arguments: Json
    ) -> JsonObject:
        whole = {"tag": self.tag, **arguments}
        return await self.client.call(f"{self.place.name}_{tool}", whole, meta)

    async def said(self, tool: str, **arguments: Json) -> str:
        """The text of a tool's answer."""
        result = await self.result(tool, **arguments)
        text: str = result["content"][0]["text"]
        if result.get("isError"):
            raise Told(text)
        return text

    async def parsed(self, tool: str, **arguments: Json) -> Json:
        return json.loads(await self.said(tool, **arguments))

    def uri(self, name: str) -> str:
        return f"strict://{self.place.name}/{name}"

    def news(self) -> list[JsonObject]:
        """What the upstream has noted about this client since the last time."""
        path = Path(self.place.folder / f"{self.place.name}.notes")
        if not path.exists():
            return []
        with open(path, encoding="utf-8") as file:
            file.seek(self._read)
            raw = file.read()
        raw = raw[: raw.rfind("\n") + 1]
        self._read += len(raw.encode())
        found = [json.loads(line) for line in raw.splitlines()]
        return [note for note in found if note.get("tag") == self.tag]

    async def noted(self, what: str) -> JsonObject:
        """The upstream's next note of this kind."""

        def next_one() -> JsonObject | None:
            self.notes += self.news()
            return next((note for note in self.notes if note["what"] == what), None)

        note = await until(next_one, WITHIN)
        self.notes.remove(note)
        return note


Run: TypeAlias = Callable[[Pairing], Awaitable[None]]


@dataclass(frozen=True)
class Check:
    """A feature that a client could use if it talked to the upstream directly."""

    run: Run
    upstreams: tuple[str, str] = ("2024-11-05", "2026-07-28")  # those that have it, from and to
    clients: tuple[str, str] = ("2024-11-05", "2026-07-28")

    def applies(self, us: Peer, up: Peer) -> bool:
        there = self.upstreams[0] <= up.revision <= self.upstreams[1]
        return there and self.clients[0] <= us.revision <= self.clients[1]


def same(found: Json, expected: Json, what: str = "value") -> None:
    if found != expected:
        raise Lost(f"{what} is {json.dumps(found)[:150]} and not {json.dumps(expected)[:150]}")
