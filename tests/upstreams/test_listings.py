"""The listings of all upstreams, kept current for the catalog."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.processes import Started
from tests.until import until
from tests.upstreams.conftest import MakePool
from tests.upstreams.seam import call_tool, fake
from toolyard.errors import UpstreamError
from toolyard.sources import upstream
from toolyard.sources.upstream import UpstreamListings
from toolyard.upstreams.lists.disk import RecordFolder, record_folder


@asynccontextmanager
async def watched(listings: UpstreamListings) -> AsyncIterator[asyncio.Queue[None]]:
    changes: asyncio.Queue[None] = asyncio.Queue()
    task = asyncio.create_task(listings.watch(lambda: changes.put_nowait(None)))
    try:
        yield changes
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def names(listings: UpstreamListings, server: str = "fake") -> list[str]:
    listing = listings.read()[server]
    assert listing is not None
    return [tool["name"] for tool in listing.tools]


async def test_only_servers_that_something_refers_to_are_started(make_pool: MakePool) -> None:
    started = Started()
    pool = make_pool(fake(), fake("idle", n=2))
    listings = UpstreamListings(pool, ["fake"])
    assert listings.read() == {"fake": None}
    await listings.settle()
    assert "echo" in names(listings)
    assert len(started.pids) == 1


async def test_settling_does_not_wait_for_a_slow_server_which_comes_later(
    make_pool: MakePool, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    pool = make_pool(fake(), fake("slow", gate=str(gate)))
    listings = UpstreamListings(pool, ["fake", "slow"])

    async def settled() -> bool:
        await listings.settle(within=0.1)
        return listings.read()["fake"] is not None

    await until(settled)
    assert listings.read()["slow"] is None
    assert "echo" in names(listings)
    async with watched(listings) as changes:
        gate.touch()
        await changes.get()
        assert "echo" in names(listings, "slow")


async def test_a_kept_listing_is_there_at_once_and_a_newer_one_replaces_it(
    make_pool: MakePool, tmp_path: Path
) -> None:
    records = RecordFolder(tmp_path)
    await UpstreamListings(make_pool(fake(), listing_cache=records), ["fake"]).settle()
    pool = make_pool(fake(), listing_cache=records)
    listings = UpstreamListings(pool, ["fake"])
    await listings.settle(within=0)
    assert "echo" in names(listings)
    assert pool.health()[0].state == "idle"
    async with watched(listings) as changes:
        await pool.listing("fake")
        await call_tool(pool, "grow", {"name": "new"})
        await changes.get()
        assert "new" in names(listings)


async def test_a_server_that_could_not_start_is_asked_again(
    make_pool: MakePool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upstream, "FIRST_WAIT", 0.3)
    program = tmp_path / "server"
    definition = fake()
    pool = make_pool(type(definition)(name="fake", command=str(program), args=definition.args))
    listings = UpstreamListings(pool, ["fake"])
    async with watched(listings) as changes:
        await changes.get()
        listing = listings.read()["fake"]
        assert listing is not None
        assert "no program named" in str(listing.error)
        program.symlink_to(str(definition.command))
        async with asyncio.timeout(10):
            while not names(listings):
                await changes.get()


async def test_a_server_that_went_down_keeps_its_listing_with_the_reason(
    make_pool: MakePool,
) -> None:
    pool = make_pool(fake())
    listings = UpstreamListings(pool, ["fake"])
    async with watched(listings) as changes:
        await changes.get()
        before = names(listings)
        with pytest.raises(UpstreamError):
            await call_tool(pool, "die", {"how": "crash"})
        await pool.listing("fake")
        assert names(listings) == before


async def test_other_servers_can_be_followed_later(make_pool: MakePool) -> None:
    pool = make_pool(fake("one"), fake("two", n=2))
    listings = UpstreamListings(pool, ["one"])
    async with watched(listings) as changes:
        await changes.get()
        listings.follow(["two"])
        assert listings.read() == {"two": None}
        await changes.get()
        assert "echo" in names(listings, "two")


async def test_who_asks_while_another_is_asking_gets_the_same_listing(make_pool: MakePool) -> None:
    pool = make_pool(fake())
    first = asyncio.create_task(pool.listing("fake"))
    others = []
    while not first.done():
        others.append(asyncio.create_task(pool.listing("fake")))
        await asyncio.sleep(0.001)
    assert {len(listing.tools) for listing in await asyncio.gather(*others)} == {4}


def test_listings_are_kept_beside_the_registry_else_in_the_cache_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    beside = record_folder(str(tmp_path / "registry.json"))
    assert beside == tmp_path.resolve() / ".registry" / "upstreams"
    # Root may write to every folder that there is: this one is not.
    elsewhere = record_folder(str(tmp_path / "none" / "registry.json"))
    assert elsewhere == tmp_path / "cache" / "toolyard" / "upstreams"
