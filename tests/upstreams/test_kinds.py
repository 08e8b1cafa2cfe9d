"""Connections and listings by what clients can do: shared by those that are alike, and bounded."""

from __future__ import annotations

from pathlib import Path

from tests.upstreams.conftest import MakePool
from tests.upstreams.seam import (
    BOB,
    EVERYTHING,
    ClientSession,
    RecordingChannel,
    call_tool,
    fake,
    sent,
    session_call,
)
from toolyard.protocol.call import Call, Client, JsonObject
from toolyard.protocol.client import told_in
from toolyard.protocol.revisions import ALL
from toolyard.upstreams import connections
from toolyard.upstreams.connections import client_of


def with_extension(name: str) -> Call:
    return session_call({"extensions": {f"example.com/{name}": {}}})


async def test_only_so_many_kinds_of_clients_have_a_shared_connection(
    make_pool: MakePool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pool = make_pool(fake(log=str(log)))
    for number in range(connections.MAX_SHARED + 2):
        await call_tool(pool, "echo", call=with_extension(str(number)))
    # Those beyond share the plain one, which announces nothing.
    assert pool.health()[0].connections == connections.MAX_SHARED + 1
    told = [one["params"]["capabilities"] for one in sent(log) if one.get("method") == "initialize"]
    assert told.count({}) == 1
    assert len(told) == connections.MAX_SHARED + 1


async def test_callers_with_clients_that_are_alike_share_a_listing(
    make_pool: MakePool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pool = make_pool(fake(log=str(log)))
    ann = client_of(session_call(EVERYTHING), ClientSession("ann"))
    bob = client_of(session_call(EVERYTHING, caller=BOB), ClientSession("bob"))
    listings = [await pool.listing("fake", client) for client in (ann, bob, ann)]
    assert listings[0] == listings[1] == listings[2]
    assert [one.get("method") for one in sent(log)].count("tools/list") == 1


async def test_what_a_client_can_do_is_told_in_the_words_of_a_revision() -> None:
    able: JsonObject = {
        "elicitation": {"form": {}, "url": {}},
        "sampling": {"tools": {}},
        "roots": {"listChanged": True},
    }
    told = {date: told_in(revision, able) for date, revision in ALL.items()}
    older = {"sampling": {}, "roots": {"listChanged": True}}
    assert told == {
        "2024-11-05": older,
        "2025-03-26": older,
        "2025-06-18": {**older, "elicitation": {}},
        "2025-11-25": able,
        "2026-07-28": {**able, "roots": {}},
    }
    only_pages: JsonObject = {"elicitation": {"url": {}}}
    assert told_in(ALL["2025-06-18"], only_pages) == {}


async def test_a_connection_is_greeted_in_the_revision_of_its_client(
    make_pool: MakePool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    pool = make_pool(fake(log=str(log)))
    call = Call("tools/call", {}, ALL["2025-06-18"], Client({}, EVERYTHING))
    await call_tool(pool, "echo", call=call, channel=RecordingChannel(session=ClientSession()))
    (greeting,) = [one for one in sent(log) if one.get("method") == "initialize"]
    assert greeting["params"]["protocolVersion"] == "2025-06-18"
    assert greeting["params"]["capabilities"] == EVERYTHING
