"""Whatever the rules are: nothing that a caller may not see is found, named, counted or called."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from tests.context.tools import tool
from tests.virtual.seams import Keeps
from toolyard.access.rules import Rules, read_rules
from toolyard.catalog.entries import Entries
from toolyard.catalog.keeper import Keeper
from toolyard.context.meta_tools import META_NAMES, call_with
from toolyard.errors import ToolError
from toolyard.methods.finding import FindTools, ToolIndexes
from toolyard.methods.lists import list_method
from toolyard.methods.offer import Offer
from toolyard.methods.table import unwrapped
from toolyard.methods.tools import ToolMethods
from toolyard.methods.views import ToolViews
from toolyard.protocol.call import Call, Encoded, Result
from toolyard.protocol.codec import exact
from toolyard.protocol.revisions import LATEST

HINTS: list[Any] = [{"readOnlyHint": True}, {"destructiveHint": False}, None]
SYLLABLES = ["ka", "lo", "mi", "nu", "re", "sa", "ti", "vo", "xu", "ze"]


class Fixed:
    """A Source whose tools never change."""

    def __init__(self, *tools: Any) -> None:
        self.entries = Entries(tools=tools)

    def read(self) -> Entries:
        return self.entries

    async def settle(self) -> None:
        pass

    async def watch(self, changed: Callable[[], None]) -> None:
        pass


def yard(chance: random.Random, words: Iterator[str]) -> list[Any]:
    """Tools whose names and texts have a word that no other tool has."""
    return [
        tool(
            f"{chance.choice('ab')}{chance.choice('cd')}_{next(words)}",
            f"Does {next(words)} things.",
            f"server{number % 4}",
            annotations=chance.choice(HINTS),
            listedInEveryView=chance.random() < 0.2,
        )
        for number in range(12)
    ]


async def test_a_thousand_random_rule_sets_leak_nothing() -> None:
    chance = random.Random(20261117)
    words = ("".join(syllables) for syllables in permutations(SYLLABLES, 5))
    for _ in range(1_000):
        tools = yard(chance, words)
        patterns = chance.sample(["a*", "b*", "?c*", "?d*", *(t.name for t in tools)], 2)
        rules = Rules(read_rules([{"tools": patterns}], "test"), {})
        base = Offer(Keeper([Fixed(*tools)]), {}, narrow=rules)
        offer = replace_views(base)
        seen = (await offer.to(call_of("tools/list", "search"), Keeps())).tools
        hidden = [entry for entry in tools if entry.name not in seen]
        await check(offer, tools, hidden)


def replace_views(offer: Offer) -> Offer:
    return replace(offer, views=ToolViews(FindTools(offer, ToolIndexes())))


def call_of(method: str, view: str, **params: Any) -> Call:
    return Call(method, params, LATEST, address={"view": view})


async def check(offer: Offer, tools: list[Any], hidden: list[Any]) -> None:
    handler = unwrapped(ToolMethods(offer).call, offer.lists_all)
    view = random.choice(["index", "search"])
    said = [await list_method(offer, "tools")(call_of("tools/list", view), Keeps())]
    secrets = [text for entry in hidden for text in secrets_of(entry)]
    for entry in random.sample(hidden, min(3, len(hidden))):
        for asked in ({"query": " ".join(secrets_of(entry))}, {"names": [entry.name]}):
            found = await handler(
                call_of("tools/call", view, name="find_tools", arguments=asked), Keeps()
            )
            body = as_object(found)["structuredContent"]
            assert body["total"] == len(tools) - len(hidden)
            body.pop("unmatched")  # what the caller itself has said
            assert not any(secret in str(body) for secret in secrets)
        through = {"name": call_with(entry), "arguments": {"name": entry.name}}
        with pytest.raises(ToolError) as refused:
            await handler(call_of("tools/call", view, **through), Keeps())
        with pytest.raises(ToolError) as unknown:
            through["arguments"] = {"name": "nothing"}
            await handler(call_of("tools/call", view, **through), Keeps())
        assert refused.value.message.replace(entry.name, "nothing") == unknown.value.message
    for answer in said:
        text = str(as_object(answer))
        assert all(name in text for name in META_NAMES)
        assert not any(secret in text for secret in secrets)
    for entry in tools:
        if entry not in hidden:
            through = {"name": call_with(entry), "arguments": {"name": entry.name}}
            got = await handler(call_of("tools/call", view, **through), Keeps())
            assert as_object(got)["structuredContent"] == {}


def secrets_of(entry: Any) -> list[str]:
    return [entry.name.partition("_")[2], entry.definition["description"].split()[1]]


def as_object(result: Result) -> Any:
    return exact(result.body) if isinstance(result, Encoded) else result
