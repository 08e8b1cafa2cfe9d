"""A rule holds whichever way a URI is spelt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.access.test_rules import ADA, HERE, TARGET
from tests.access.test_server import bearer
from tests.peers.raw_http import over_http
from tests.peers.serving import serving
from tests.project.conftest import Folder, folder
from toolyard.access.limits.limit import read_limits
from toolyard.access.limits.limited import CallLimits
from toolyard.access.limits.meters import OwnMeter
from toolyard.access.tokens import hash_of
from toolyard.catalog.entries import Resource, Template
from toolyard.catalog.snapshot import Catalog
from toolyard.catalog.uris import plain
from toolyard.errors import RESOURCE_NOT_FOUND
from toolyard.protocol.call import Call
from toolyard.protocol.revisions import LATEST

__all__ = ["folder"]
# Of `sub/b.txt`, below a base.
SPELLINGS = [
    "sub/b.txt",
    "sub/%62.txt",
    "sub//b.txt",
    "./sub/b.txt",
    "sub/./b.txt",
    "sub/../sub/b.txt",
    "sub/%2e%2E/sub/b.txt",
    "sub%2Fb.txt",
    "sub/b.txt?x",
    "sub/b.txt#x",
    "sub/b.txt/",
    "%73ub/b.txt?x=1#y",
]


@pytest.mark.parametrize("spelt", SPELLINGS)
@pytest.mark.parametrize("base", ["doc://", "DOC://", "doc:///", "file:///data/", "FILE:/data/"])
def test_a_withheld_resource_is_withheld_in_every_spelling(base: str, spelt: str) -> None:
    uri = "file:///data/sub/b.txt" if "data" in base else "doc://sub/b.txt"
    template = f"{uri.partition('sub')[0]}{{+path}}"
    catalog = Catalog(
        resources={uri: Resource(uri, {"name": uri}, TARGET, HERE)},
        templates={
            each: Template(each, {"name": each}, TARGET, HERE)
            for each in (template, f"{base}{{+path}}")
        },
    )
    seen = catalog.narrowed(lambda kind, _name: kind == "templates")
    assert seen.find_resource(base + spelt) is None
    assert seen.find_resource(f"{base}sub/c.txt") is not None
    assert catalog.find_resource(base + spelt) is not None  # where nothing is withheld


@pytest.mark.parametrize(
    "withheld, asked, known",
    [
        ("https://h/page?id=1", "https://h/page?id=2", True),
        ("https://h/page?id=1", "https://h/page?id=%31", False),
        ("https://h/page?a=1&b=2", "https://h/page?b=2&a=1#x", False),
        ("https://h/page", "https://h/page?id=2", False),
        ("doc://a%2Fb", "doc://a/b", False),
    ],
)
def test_a_query_tells_pages_apart_and_hides_none(withheld: str, asked: str, known: bool) -> None:
    template = Template("{+uri}", {"name": "all"}, TARGET, HERE)
    seen = Catalog(templates={"{+uri}": template}, withheld=frozenset({withheld}))
    assert (seen.find_resource(asked) is not None) is known


async def test_a_limit_over_resources_counts_every_spelling() -> None:
    entry = {"calls": 3, "seconds": 60, "resources": ["file:///data/sub/*"]}
    limits = CallLimits(read_limits([entry], "f"), OwnMeter(clock=lambda: 0.0))
    waits = [
        await limits.wait(
            Call("resources/read", {"uri": f"file:///data/{spelt}"}, LATEST, caller=ADA)
        )
        for spelt in SPELLINGS[:4]
    ]
    assert waits == [0, 0, 0, 20]


@pytest.mark.parametrize("odd", ["", "no-scheme", ":", "a:", "file:", "x://..", "file://", "é:é"])
def test_whatever_is_sent_has_one_spelling(odd: str) -> None:
    assert plain(plain(odd)) == plain(odd)


@pytest.mark.asyncio
async def test_a_file_withheld_by_a_rule_is_not_read_through_a_template(folder: Folder) -> None:
    folder.write("resources/all.meta.json", {"name": "all", "uriTemplate": "file:///{path}"})
    folder.write("resources/a.txt", "mine")
    folder.write("resources/sub/b.txt", "withheld")
    (folder.root / "resources/sub/.link.txt").symlink_to("b.txt")
    config: Mapping[str, Any] = {
        "tokens": [{"name": "ada", "hash": hash_of("ada-token")}],
        "rules": [{"for": {"token": "ada"}, "resources": ["file:///{path}", "*/a.txt"]}],
    }
    folder.write("toolyard.json", json.dumps(config))
    base = f"file://{folder.root}/resources/"
    async with (
        serving(folder.root) as server,
        over_http(server.url, "2025-11-25", headers=bearer("ada-token")) as client,
    ):
        for spelt in (*SPELLINGS, "sub/.link.txt"):
            for method in ("resources/read", "resources/subscribe"):
                refused = await client.error(method, {"uri": base + spelt})
                assert refused["code"] == RESOURCE_NOT_FOUND, (method, spelt)
        read = await client.result("resources/read", {"uri": f"{base}./a.txt"})
        assert read["contents"][0]["text"] == "mine"
