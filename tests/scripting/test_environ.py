"""The environment contract."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.scripting.conftest import MakeYard
from tests.scripting.yard import Yard, calling, run
from toolyard.errors import ProtocolError
from toolyard.protocol.call import Client, JsonObject
from toolyard.protocol.revisions import R2026_07_28
from toolyard.scripts.tool import ScriptTarget

SHOW = "import json, os\nprint(json.dumps(dict(os.environ)))"
SECRETS = {
    "MCPBASH_REMOTE_TOKEN": "r",
    "MCP_REGISTRY_TOKEN": "g",
    "TOOLYARD_TOKEN": "t",
    "TOOLYARD_REMOTE_TOKEN": "u",
    "TOOLYARD_SEAL_KEY": "k",
    "NAMED_BY_OPERATOR": "n",
}


def python(yard: Yard, **metadata: Any) -> ScriptTarget:
    """Without a shell in between, which would add variables of its own."""
    return yard.target(yard.script("show.py", f"#!/usr/bin/python3\n{SHOW}\n"), **metadata)


async def seen(target: ScriptTarget, **changes: Any) -> JsonObject:
    result = await run(target, {"q": "é"}, calling(**changes))
    return dict(result["structuredContent"])


@pytest.fixture
def server_environ(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        monkeypatch.delenv(name)
    variables = {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/me",
        "LANG": "C.UTF-8",
        "EDITOR": "vi",
        "AWS_SECRET": "s",
        "MCP_OWN": "1",
        "MCPBASH_OWN": "2",
        "MCP_TOOL_ARGS_JSON": "of the server's own caller",
        "MCP_REQUEST_STATE": "stale",
        **SECRETS,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


PARTS = {
    "MCP_PROGRESS_STREAM": "stream.ndjson",
    "MCP_LOG_STREAM": "stream.ndjson",
    "MCP_TOOL_ERROR_FILE": "error.json",
    "MCP_TOOL_RESOURCES_FILE": "resources.json",
    "MCP_CANCEL_FILE": "cancelled",
    "MCP_ELICIT_REQUEST_FILE": "elicit.request",
    "MCP_ELICIT_RESPONSE_FILE": "elicit.response",
    "MCP_SAMPLE_REQUEST_FILE": "sample.request",
    "MCP_SAMPLE_RESPONSE_FILE": "sample.response",
    "MCP_ROOTS_REQUEST_FILE": "roots.request",
    "MCP_ROOTS_RESPONSE_FILE": "roots.response",
}


@pytest.mark.usefixtures("server_environ")
async def test_a_tool_is_told_what_the_contract_says_and_nothing_else(a_yard: MakeYard) -> None:
    yard = a_yard(withheld=frozenset({"NAMED_BY_OPERATOR"}))
    environ = await seen(
        python(yard, description="d"),
        id=7,
        meta={"progressToken": "p", "vendor": 1},
        client=Client({"name": "c"}, {"elicitation": {}, "sampling": {}}),
    )
    folder = Path(environ["MCP_CANCEL_FILE"]).parent
    assert folder.parent.parent == yard.root / "tmp"
    root = str(yard.root)
    environ.pop("LC_CTYPE", None)  # python's own doing
    assert environ == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/home/me",
        "LANG": "C.UTF-8",
        "MCP_OWN": "1",
        "MCPBASH_OWN": "2",
        "MCP_SDK": "",
        "MCPBASH_PROJECT_ROOT": root,
        "MCPBASH_MODE": "full",
        "MCPBASH_WORKER_KEY": "Nw",
        "MCP_TOOL_NAME": "show",
        "MCP_TOOL_PATH": f"{root}/tools/show.py",
        "MCP_TOOL_ARGS_JSON": '{"q":"é"}',
        "MCP_TOOL_ARGS_FILE": "",
        "MCP_TOOL_METADATA_JSON": '{"name":"show","description":"d"}',
        "MCP_TOOL_METADATA_FILE": "",
        "MCP_TOOL_META_JSON": '{"progressToken":"p","vendor":1}',
        "MCP_TOOL_META_FILE": "",
        "MCP_PROGRESS_TOKEN": "p",
        "MCP_PROGRESS_TOKEN_JSON": '"p"',
        "MCP_PROTOCOL_VERSION": "2025-11-25",
        "MCP_CLIENT_INFO_JSON": '{"name":"c"}',
        "MCP_CLIENT_CAPABILITIES_JSON": '{"elicitation":{},"sampling":{}}',
        "MCP_ELICIT_SUPPORTED": "1",
        "MCP_SAMPLE_SUPPORTED": "1",
        "MCP_ROOTS_SUPPORTED": "0",
        "MCP_ROOTS_JSON": orjson.dumps(
            [{"uri": yard.root.as_uri(), "name": yard.root.name, "path": root}]
        ).decode(),
        "MCP_ROOTS_PATHS": root,
        "MCP_ROOTS_COUNT": "1",
        "TOOLYARD_RUN_ROOT": f"{folder.parent}/run.0",
        **{name: str(folder / part) for name, part in PARTS.items()},
    }


@pytest.mark.usefixtures("server_environ")
async def test_an_allowlist_adds_what_it_names_but_no_secret(a_yard: MakeYard) -> None:
    yard = a_yard(env_mode="allowlist", env_allowlist=("EDITOR", "TOOLYARD_TOKEN"))
    environ = await seen(python(yard))
    assert environ["EDITOR"] == "vi"
    assert "AWS_SECRET" not in environ
    assert "TOOLYARD_TOKEN" not in environ


@pytest.mark.usefixtures("server_environ")
async def test_inheriting_everything_still_withholds_secrets(a_yard: MakeYard) -> None:
    withheld = frozenset({"NAMED_BY_OPERATOR"})
    yard = a_yard(env_mode="inherit", env_inherit_allowed=True, withheld=withheld)
    environ = await seen(python(yard))
    assert environ["AWS_SECRET"] == "s"
    assert not SECRETS.keys() & environ.keys()


async def test_inheriting_everything_needs_a_second_word(a_yard: MakeYard) -> None:
    yard = a_yard(env_mode="inherit")
    with pytest.raises(ProtocolError, match="MCPBASH_TOOL_ENV_INHERIT_ALLOW") as raised:
        await run(python(yard))
    assert raised.value.code == -32602


async def test_the_answers_to_questions_come_with_the_second_round(yard: Yard) -> None:
    target = python(yard)
    first = await seen(target, revision=R2026_07_28)
    assert not {"MCP_INPUT_RESPONSES_JSON", "MCP_REQUEST_STATE"} & first.keys()
    second = await seen(
        target,
        revision=R2026_07_28,
        input_responses={"q": {"action": "accept"}},
        request_state="st\0ate",
    )
    assert second["MCP_INPUT_RESPONSES_JSON"] == '{"q":{"action":"accept"}}'
    assert second["MCP_REQUEST_STATE"] == "state"
    assert second["MCP_PROTOCOL_VERSION"] == "2026-07-28"


BY_FILE = """
[ -z "$MCP_TOOL_ARGS_JSON" ] || echo "also in the environment"
cat "$MCP_TOOL_ARGS_FILE"
"""


@pytest.mark.parametrize("threshold", [0, 65536, 10_000_000])
async def test_large_arguments_come_by_file_only(a_yard: MakeYard, threshold: int) -> None:
    yard = a_yard(payload_threshold=threshold)
    arguments = {"q": "x" * (1 << 20)}
    result = await run(yard.bash("large.sh", BY_FILE), arguments)
    assert result["structuredContent"] == arguments


async def test_with_a_threshold_of_nothing_even_small_arguments_come_by_file(
    a_yard: MakeYard,
) -> None:
    yard = a_yard(payload_threshold=0)
    assert (await run(yard.bash("small.sh", BY_FILE), {"q": 1}))["structuredContent"] == {"q": 1}


@pytest.mark.parametrize(
    "value",
    ["-rf", "--help", "a\0b", "line\nline", "$(touch pwned)", "`id`", '"', "'", "\\", "\u2028",
     "x" * (1 << 20), 1 << 70],
)  # fmt: skip
async def test_no_argument_does_harm(yard: Yard, value: object) -> None:
    echo = yard.bash(
        "echo.sh", 'printf %s "$MCP_TOOL_ARGS_JSON"; cat $MCP_TOOL_ARGS_FILE </dev/null'
    )
    result = await run(echo, {"q": value})
    text = result["content"][0]["text"]
    assert not result["isError"]
    assert json.loads(text) == {"q": value}
    assert not (yard.root / "pwned").exists()


async def test_a_progress_token_cannot_break_the_environment(yard: Yard) -> None:
    environ = await seen(python(yard), meta={"progressToken": "a\0b\nc"})
    assert environ["MCP_PROGRESS_TOKEN"] == "ab\nc"
    assert (await seen(python(yard), meta={"progressToken": 7}))["MCP_PROGRESS_TOKEN"] == "7"


@pytest.mark.parametrize("token", ["7", 7, "a\0b", 'a"b', 1 << 70])
async def test_a_progress_token_is_also_told_as_json(yard: Yard, token: str | int) -> None:
    environ = await seen(python(yard), meta={"progressToken": token})
    assert json.loads(environ["MCP_PROGRESS_TOKEN_JSON"]) == token
    assert "MCP_PROGRESS_TOKEN_JSON" not in await seen(python(yard))
