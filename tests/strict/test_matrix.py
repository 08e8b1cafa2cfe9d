"""Every revision and transport of client against every revision and transport of upstream.

Ten strict clients that can do all that their revision has, and five that can do nothing, each
against ten strict upstreams, through the real program over stdio and HTTP. Nothing may be lost
but what the revisions make necessary.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.peers.serving import Listening, environment, listening, serving, toolyard
from tests.strict.client import TO_START, Answers, Failed, StrictClient, abilities, over_stdio
from tests.strict.client_http import over_http, over_pair
from tests.strict.conversation import Place
from tests.strict.features import FEATURES
from tests.strict.features_asking import ASKING, not_asked
from tests.strict.necessary import necessary
from tests.strict.pairing import Check, Lost, Pairing, Peer, Told
from tests.strict.schema import MODERN, REVISIONS, JsonObject, absent
from tests.strict.server_http import http_name

pytestmark = pytest.mark.long

PEERS = [Peer(revision, how) for revision in REVISIONS for how in ("stdio", "http")]
ABLE = {**FEATURES, **ASKING}
PLAIN_ONES = ("tools/list", "call", "progress", "subscription", "cancellation", "capabilities")
PLAIN = {**{name: FEATURES[name] for name in PLAIN_ONES}, "not asked": Check(not_asked)}


@dataclass
class Table:
    """What came of each check: passed, lost as it had to be, or lost and why."""

    folder: Path
    passed: Counter[tuple[str, str]] = field(default_factory=Counter)
    due: Counter[tuple[str, str]] = field(default_factory=Counter)
    lost: list[tuple[str, str, str, str]] = field(default_factory=list)
    alone: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def turn_at(self, us: Peer, up: Peer) -> AsyncIterator[None]:
        """A log message of 2026-07-28 over stdio does not say whose call it belongs to: where
        clients share such a server, one after the other has it, or the logs go to nobody."""
        async with AsyncExitStack() as stack:
            if us.transport == "http" and (up.revision, up.transport) == (MODERN, "stdio"):
                await stack.enter_async_context(self.alone)
            yield

    def __str__(self) -> str:
        clients = sorted({client for client, _ in self.passed + self.due})
        ups = [str(up) for up in PEERS]
        lost = Counter((client, up) for client, up, _, _ in self.lost)
        head = " " * 24 + "".join(f"{up[2:10]:>9}{up[11:12]}" for up in ups)
        lines = [head.rstrip()]
        for client in clients:
            cells = [
                f"{self.passed[client, up]}+{self.due[client, up]}-{lost[client, up]}" for up in ups
            ]
            lines.append(f"{client:24}" + "".join(f"{cell:>10}" for cell in cells))
        lines.append(
            f"{self.passed.total()} passed, {self.due.total()} lost as they must be, "
            f"{len(self.lost)} lost without need"
        )
        return "\n".join([*lines, *self.causes()])

    def causes(self) -> list[str]:
        found: defaultdict[str, list[str]] = defaultdict(list)
        for client, up, feature, why in self.lost:
            found[feature].append(f"      {client} <- {up}: {why[:300]}")
        return [
            f"  {len(each)} x {feature}\n" + "\n".join(each[:6]) for feature, each in found.items()
        ]


def upstream_name(up: Peer) -> str:
    return http_name(up.revision) if up.transport == "http" else f"s{up.revision.replace('-', '')}"


def registry(folder: Path, origin: str) -> JsonObject:
    servers = []
    for up in PEERS:
        name = upstream_name(up)
        server: JsonObject = {"name": name, "expose": "all"}
        if up.transport == "http":
            server["url"] = f"{origin}/{name}" + ("/sse" if up.revision == REVISIONS[0] else "")
        else:
            command = ["-m", "tests.strict.server", str(folder), name, up.revision]
            server["stdio"] = {"command": sys.executable, "args": command}
            server["env"] = {"PYTHONPATH": environment()["PYTHONPATH"]}
        servers.append(server)
    return {"servers": servers}


@asynccontextmanager
async def connected(
    us: Peer,
    file: Path,
    gateway: Listening,
    capabilities: JsonObject,
    answers: Answers | None = None,
) -> AsyncIterator[StrictClient]:
    async with AsyncExitStack() as stack:
        if us.transport == "stdio":
            opening = over_stdio(toolyard("serve", file), us.revision, capabilities, answers)
        elif us.revision == REVISIONS[0]:
            opening = over_pair(f"{gateway.origin}/sse", us.revision, capabilities, answers)
        else:
            opening = over_http(gateway.url, us.revision, capabilities, answers)
        yield await stack.enter_async_context(opening)


async def outcome(pairing: Pairing, check: Check) -> Lost | None:
    """What came of one check, with every message judged on both sides."""
    pairing.client.forget()
    pairing.notes = []
    pairing.news()
    try:
        await check.run(pairing)
        ended: Lost | None = None
    except Lost as lost:
        ended = lost
    except Failed as failed:
        ended = Told(str(failed))
    except TimeoutError:
        ended = Lost("nothing came")
    except Exception as error:
        ended = Lost(f"{type(error).__name__}: {error}")
    notes = [*pairing.notes, *pairing.news()]
    invalid = [problem for note in notes for problem in note.get("problems", [])]
    if pairing.client.problems:
        return Lost(f"invalid at the client: {pairing.client.problems[0]}")
    return Lost(f"invalid at the upstream: {invalid[0]}") if invalid else ended


async def converse(us: Peer, client: StrictClient, able: bool, table: Table) -> None:
    who = f"{us} {'able' if able else 'plain'}"
    if client.modern:
        kinds = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")
        await client.listen(dict.fromkeys(kinds, True))
    await all_are_there(client)
    first = PEERS.index(us)  # not all at one upstream at once
    for up in [*PEERS[first:], *PEERS[:first]]:
        place = Place(upstream_name(up), up.revision, table.folder)
        pairing = Pairing(client, us, up, place, who.replace(" ", "-"))
        async with table.turn_at(us, up):
            await compare(pairing, who, ABLE if able else PLAIN, table)


async def all_are_there(client: StrictClient) -> None:
    """The first list waits a while for servers that are starting, and no longer."""
    names: set[str] = set()
    async with asyncio.timeout(TO_START):
        while not {f"{upstream_name(up)}_echo" for up in PEERS} <= names:
            with suppress(TimeoutError):
                names = {tool["name"] for tool in await client.listed("tools/list", "tools")}


async def compare(pairing: Pairing, who: str, checks: Mapping[str, Check], table: Table) -> None:
    us, up = pairing.us, pairing.up
    for feature, check in checks.items():
        if not check.applies(us, up):
            continue
        ended = await outcome(pairing, check)
        loss = necessary(feature, us, up)
        if ended is None and loss is None:
            table.passed[who, str(up)] += 1
        elif isinstance(ended, Told) and loss is not None:
            table.due[who, str(up)] += 1
        else:
            why = str(ended) if ended else f"passed although {loss.why if loss else ''}"
            table.lost.append((who, str(up), feature, why))


@pytest.mark.timeout(600)
async def test_nothing_is_lost_between_any_two_revisions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if why := absent():
        print(why, file=sys.stderr)
        pytest.skip(why)
    table = Table(tmp_path)
    file = tmp_path / "registry.json"
    strict = [sys.executable, "-m", "tests.strict.server", str(tmp_path)]
    async with listening(strict) as upstreams:
        file.write_text(json.dumps(registry(tmp_path, upstreams.origin)))

        async def one(us: Peer, able: bool) -> None:
            capabilities = abilities(us.revision) if able else {}
            async with connected(us, file, gateway, capabilities) as client:
                await converse(us, client, able, table)

        async with serving(file, "--no-page") as gateway:
            able = [one(us, True) for us in PEERS]
            plain = [one(us, False) for us in PEERS if us.transport == "http"]
            await asyncio.gather(*able, *plain)
    with capsys.disabled():
        print(f"\n{table}")
    own = [note for note in notes(tmp_path) if note["what"] == "own fault"]
    assert not own, own[:3]
    assert not table.lost, f"{len(table.lost)} checks lost something: see the table above"


def notes(folder: Path) -> list[JsonObject]:
    lines = [line for path in folder.glob("*.notes") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines]
