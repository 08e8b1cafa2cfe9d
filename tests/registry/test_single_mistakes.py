"""Any value in any field of one entry: whatever becomes of that one, the others are served."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from tests.registry.case import Case, registry
from tests.registry.running import Running
from toolyard.configuration.objects import shape
from toolyard.sources.registry.chain.parts import anatomy
from toolyard.sources.registry.masking import masked

JUNK: list[Any] = [
    *(None, True, 0, -1, 10**30, 1.5, "", "x", "${NOPE}", "$.[", "\ud800"),
    *([], ["x"], [1], [[]], [{}], {}, {"": ""}, {"a": 1}, {"a": {"b": []}}, {"$ref": "#/tools/0"}),
    *({"mappings": 1}, {"mappings": {"a": []}}, {"pipeline": {"steps": [1]}}, {"mapEach": {}}),
    *({"properties": 1}, {"required": 1}, {"type": 1}, {"properties": {"a": {"source_field": 1}}}),
    {"$ref": "#/tools/0/inputSchema"},
]
OK = {"name": "ok", "server": "good", "originalName": "echo"}
GOOD = {"name": "good", "stdio": {"command": "x"}}
UPSTREAMS: Any = {"good": [{"name": "echo", "inputSchema": {"type": "object"}}], "bad": []}
PARTS = ("tool", "textExtraction", "server", "stdio", "oauth")
FIELDS = [(part, field) for part in PARTS for field in shape("registry", f"/$defs/{part}").members]


def with_junk(part: str, field: str, junk: Any) -> Any:
    tool: Any = {"name": "bad", "server": "bad"}
    server: Any = {"name": "bad", "stdio": {"command": "y"}}
    if part == "tool":
        tool[field] = junk
    elif part == "textExtraction":
        tool[part] = {"parser": "markdown_bullet_list", field: junk}
    elif part == "server":
        server[field] = junk
    elif part == "oauth":
        server = {"name": "bad", "url": "https://h", "auth": "oauth", part: {field: junk}}
    else:
        server[part] = {"command": "y", field: junk}
    over = {"name": "over", "source": "bad"}
    return registry(tool, over, OK, servers=[server, GOOD])


@pytest.fixture(autouse=True)
def unlogged() -> Iterator[None]:
    """What is logged holds half a character, which cannot be sent between test processes."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize(("part", "field"), FIELDS)
async def test_a_mistake_anywhere_in_one_entry_leaves_the_others_served(
    part: str, field: str
) -> None:
    for junk in JUNK:
        running = Running(Case("", with_junk(part, field, junk), upstreams=UPSTREAMS))
        assert "ok" in await running.list(), junk
        result = await running.call("ok", {})
        assert not result.get("isError"), (junk, result)
        for name in ("bad", "over"):
            told = await running.call(name, {})
            assert told.get("isError") or "error" in told or "content" in told, (junk, told)
        masked(running.registry.raw)
        for tool in running.registry.tools:
            anatomy(running.registry, tool, {}, {})
        assert [tool["name"] for tool in running.registry.sound["tools"]][-1] == "ok"
