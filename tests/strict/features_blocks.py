"""Each kind of content, in results and in prompts."""

from __future__ import annotations

from tests.strict import world
from tests.strict.pairing import Check, Pairing, Told, same
from tests.strict.schema import MODERN

BLOCK_SINCE = {"audio": "2025-03-26", "link": "2025-06-18"}


def block(kind: str) -> Check:
    async def run(pairing: Pairing) -> None:
        content = (await pairing.result("kind", kind=kind))["content"]
        same(len(content), 2, "the number of blocks")
        if content[1]["type"] == "text" and content[1]["text"]:
            raise Told("text in its place")
        same(content[1], world.blocks(pairing.place.name)[kind], "the block")

    return Check(run, (BLOCK_SINCE.get(kind, "2024-11-05"), MODERN))


def in_a_prompt(kind: str) -> Check:
    async def run(pairing: Pairing) -> None:
        params = {"name": f"{pairing.place.name}_greet", "arguments": {"kind": kind}}
        result = await pairing.client.whole("prompts/get", params)
        content = result["messages"][1]["content"]
        if content["type"] == "text" and content["text"]:
            raise Told("text in its place")
        same(content, world.blocks(pairing.place.name)[kind], "the content")

    return Check(run, (BLOCK_SINCE[kind], MODERN))
