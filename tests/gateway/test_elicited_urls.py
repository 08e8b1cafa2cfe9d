"""URLs that a user is asked to open: 2025-11-25 tracks them, 2026-07-28 does not, others cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.gateway.bridged import Bridge, Bridges, said
from tests.peers.raw import JsonObject

pytestmark = pytest.mark.asyncio(loop_scope="module")
NEW, TRACKING = "2026-07-28", "2025-11-25"
PAGE = "https://example.com/key"
URL: JsonObject = {"mode": "url", "message": "Your key, please", "url": PAGE}
TRACKED = {**URL, "elicitationId": "e-1"}
ASK = {"ask": {"method": "elicitation/create", "params": URL}}
ASK_TRACKED = {"ask": {"method": "elicitation/create", "params": TRACKED}}
DONE: JsonObject = {"result": {"content": [{"type": "text", "text": "done"}]}}
COMPLETE: JsonObject = {
    "method": "notifications/elicitation/complete",
    "params": {"elicitationId": "e-1"},
}
REQUIRED: JsonObject = {
    "code": -32042,
    "message": "This needs a key",
    "data": {"elicitations": [TRACKED]},
}


class User:
    """Does what a question asks, or says no; what was asked is kept."""

    def __init__(self, action: str = "accept", opens: Path | None = None) -> None:
        self.action = action
        self.opens = opens
        self.asked: list[JsonObject] = []

    def __call__(self, params: JsonObject) -> JsonObject:
        self.asked.append(params)
        if self.opens is not None:
            self.opens.touch()
        return {"action": self.action}

    @property
    def answers(self) -> Any:
        return {"elicitation/create": self}


async def test_an_id_is_made_for_a_client_whose_revision_wants_one(bridged: Bridges) -> None:
    user = User()
    async with bridged.between(TRACKING, NEW, answers=user.answers) as between:
        got = said(await between.play(ASK, ASK, {"answer": True}))
    assert got == {"q0": {"action": "accept"}, "q1": {"action": "accept"}}
    made = [params.pop("elicitationId") for params in user.asked]
    assert len(set(made)) == 2 and all(isinstance(one, str) and one for one in made)
    assert user.asked == [URL, URL]


async def test_a_modern_client_reads_neither_the_id_nor_that_it_is_complete(
    bridged: Bridges,
) -> None:
    user = User()
    async with bridged.between(NEW, TRACKING, answers=user.answers) as between:
        ended = await between.play(ASK_TRACKED, {"answer": True}, {"notify": COMPLETE}, DONE)
        assert ended["result"]["content"] == DONE["result"]["content"]
        assert between.client.notifications == []
    assert user.asked == [URL]


async def test_a_client_of_the_same_revision_gets_all_of_it(bridged: Bridges) -> None:
    user = User()
    async with bridged.between(TRACKING, TRACKING, answers=user.answers) as between:
        await between.play(ASK_TRACKED, {"answer": True}, {"notify": COMPLETE}, DONE)
        heard = await between.client.notification(COMPLETE["method"])
        assert heard["params"] == COMPLETE["params"]
        refused = await between.play({"error": REQUIRED})
        assert refused["error"] == REQUIRED
    assert user.asked == [TRACKED]


async def refused_once(between: Bridge, folder: Path) -> JsonObject:
    refusal = {"error": REQUIRED, "unless": str(folder / "opened")}
    return await between.play({"refuse": refusal}, DONE)


async def test_a_modern_client_is_asked_to_open_what_an_error_requires(
    bridged: Bridges, tmp_path: Path
) -> None:
    user = User(opens=tmp_path / "opened")
    async with bridged.between(NEW, TRACKING, answers=user.answers) as between:
        ended = await refused_once(between, tmp_path)
        assert ended["result"]["content"] == DONE["result"]["content"]
        calls = [one for one in between.received() if one.get("method") == "tools/call"]
    assert user.asked == [URL]
    assert len(calls) == 2
    assert all(one["params"].keys() <= {"name", "arguments", "_meta"} for one in calls)


async def test_who_does_not_open_it_is_not_asked_again(bridged: Bridges, tmp_path: Path) -> None:
    user = User("decline")
    async with bridged.between(NEW, TRACKING, answers=user.answers) as between:
        ended = await refused_once(between, tmp_path)
        assert ended["result"]["isError"] is True
        assert "did not open" in ended["result"]["content"][0]["text"]
    assert len(user.asked) == 1


async def test_a_modern_client_that_opens_no_urls_is_told_what_is_missing(
    bridged: Bridges, tmp_path: Path
) -> None:
    async with bridged.between(NEW, TRACKING, capabilities={"elicitation": {}}) as between:
        ended = await refused_once(between, tmp_path)
        assert ended["error"]["code"] == -32021
        assert ended["error"]["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}


@pytest.mark.parametrize("client", ["2025-03-26", "2025-06-18"])
async def test_an_older_client_reads_the_url_in_a_plain_error(
    bridged: Bridges, tmp_path: Path, client: str
) -> None:
    async with bridged.between(client, TRACKING, capabilities={"elicitation": {}}) as between:
        ended = await refused_once(between, tmp_path)
        assert ended["error"]["code"] == -32603
        assert "This needs a key" in ended["error"]["message"]
        assert PAGE in ended["error"]["message"]
        await between.play({"notify": COMPLETE}, DONE)
        assert between.client.notifications == []


@pytest.mark.parametrize("upstream", [TRACKING, NEW])
async def test_a_revision_without_urls_is_not_asked_to_open_one(
    bridged: Bridges, upstream: str
) -> None:
    able: JsonObject = {"elicitation": {}, "sampling": {}, "roots": {}}
    async with bridged.between("2025-06-18", upstream, capabilities=able) as between:
        ended = await between.play(ASK_TRACKED, {"answer": True})
        assert "elicitation" in str(ended)
        assert between.client.questions == []
