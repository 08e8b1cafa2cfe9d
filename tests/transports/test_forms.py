"""Forms for clients whose revision has plain ones only: fitted without loss, or not asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.raw import StdioClient, over_stdio
from tests.peers.serving import toolyard

PLAIN, RICH, MODERN = "2025-06-18", "2025-11-25", "2026-07-28"
# Asks with the form that it is given: as it runs, or by its result.
RUNNING = '. "$MCP_SDK/tool-sdk.sh"; mcp_elicit Which? "$(mcp_args_get .schema)"'
PRINTED = """import json, os
given = os.environ.get("MCP_INPUT_RESPONSES_JSON")
schema = json.loads(os.environ["MCP_TOOL_ARGS_JSON"])["schema"]
params = {"mode": "form", "message": "Which?", "requestedSchema": schema}
asks = {"q": {"method": "elicitation/create", "params": params}}
asking = {"resultType": "input_required", "inputRequests": asks}
print(json.dumps(json.loads(given)["q"] if given else asking))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, program in (
        ("running", f"#!/usr/bin/env bash\n{RUNNING}\n"),
        ("printed", f"#!/usr/bin/env python3\n{PRINTED}"),
    ):
        folder = tmp_path / "asking" / "tools" / name
        folder.mkdir(parents=True)
        (folder / "tool.meta.json").write_text(json.dumps({"name": name}))
        (folder / "tool").write_text(program)
        (folder / "tool").chmod(0o755)
    return tmp_path / "asking"


@asynccontextmanager
async def asked(
    project: Path, revision: str, content: dict[str, Any]
) -> AsyncIterator[StdioClient]:
    answers = {"elicitation/create": {"action": "accept", "content": content}}
    async with over_stdio(
        toolyard("serve", project), revision, capabilities={"elicitation": {}}, answers=answers
    ) as client:
        yield client
        client.assert_well_formed()


def form(*required: str, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required)}


SEVERAL = form(
    "colours",
    colours={
        "type": "array",
        "title": "Colours",
        "items": {"type": "string", "enum": ["red", "green"]},
        "default": ["green"],
    },
    sizes={"type": "array", "items": {"anyOf": [{"const": "s", "title": "Small"}]}},
    name={"type": "string"},
)


def switch(title: str, description: str, **more: Any) -> dict[str, Any]:
    return {"type": "boolean", "title": title, "description": description, **more}


@pytest.mark.parametrize("tool", ["running", "printed"])
async def test_a_choice_of_several_is_asked_with_switches(project: Path, tool: str) -> None:
    content = {"colours.red": True, "colours.green": False, "name": "Ann"}
    async with asked(project, PLAIN, content) as client:
        result = await client.call(tool, {"schema": SEVERAL})
    assert client.questions[-1]["params"] == {
        "message": "Which?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "colours.red": switch("red", "Colours", default=False),
                "colours.green": switch("green", "Colours", default=True),
                "sizes.s": switch("Small", "sizes"),
                "name": {"type": "string"},
            },
            "required": ["colours.red", "colours.green"],
        },
    }
    assert result["structuredContent"] == {
        "action": "accept",
        "content": {"colours": ["red"], "name": "Ann"},
    }


async def test_titles_and_defaults_are_told_as_the_revision_can(project: Path) -> None:
    titled = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]
    schema = form(
        colour={"type": "string", "oneOf": titled, "default": "g"},
        count={"type": "integer", "description": "How many", "default": 3},
        sure={"type": "boolean", "default": True},
    )
    async with asked(project, PLAIN, {"colour": "r"}) as client:
        dated = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
        result = await client.call("running", {"schema": dated})
    assert client.questions[-1]["params"]["requestedSchema"] == form(
        colour={
            "type": "string",
            "enum": ["r", "g"],
            "enumNames": ["Red", "Green"],
            "description": "(default: g)",
        },
        count={"type": "integer", "description": "How many (default: 3)"},
        sure={"type": "boolean", "default": True},
    )
    assert result["structuredContent"]["content"] == {"colour": "r"}


@pytest.mark.parametrize("revision", [RICH, MODERN])
async def test_a_revision_that_has_lists_is_asked_as_it_was_written(
    project: Path, revision: str
) -> None:
    content = {"colours": ["red"]}
    async with asked(project, revision, content) as client:
        result = await client.call("running", {"schema": SEVERAL})
    assert client.questions[-1]["params"]["requestedSchema"] == SEVERAL
    assert result["structuredContent"]["content"] == content


CHOICES = {"type": "string", "enum": ["a", "b"]}
LOST = [
    {"list": {"type": "array", "items": {"type": "string"}}},
    {"list": {"type": "array", "items": CHOICES, "minItems": 1}},
    {"list": {"type": "array", "items": CHOICES, "maxItems": 1}},
    {"list": {"type": "array", "items": CHOICES}, "list.a": {"type": "string"}},
    {"list": {"type": "object", "properties": {}}},
    {"list": {"type": ["string", "null"]}},
    {"list": {"type": "string", "oneOf": [{"minLength": 3}]}},
]


@pytest.mark.parametrize("fields", LOST)
async def test_what_would_be_lost_is_not_asked_and_the_caller_reads_why(
    project: Path, fields: dict[str, Any]
) -> None:
    async with asked(project, PLAIN, {}) as client:
        printed = await client.call("printed", {"schema": form(**fields)})
        declined = await client.call("running", {"schema": form(**fields)})
    assert client.questions == []
    why = "the form of this client's revision cannot ask for 'list': "
    assert printed["isError"] is True
    assert printed["content"][0]["text"].startswith(why)
    # A script that waits for an answer is answered, and the client hears why.
    assert declined["structuredContent"] == {"action": "decline"}
    heard = [note["params"] for note in client.notifications if "params" in note]
    assert [note["data"].startswith(why) for note in heard if "level" in note] == [True]
