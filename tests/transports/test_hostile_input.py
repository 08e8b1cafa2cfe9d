"""Input that no good client sends: each gets its error, and the next request is answered."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.peers import schemas
from tests.peers.raw import StdioClient, over_stdio
from tests.until import until
from toolyard.protocol import codec, jsonrpc
from toolyard.protocol.codec import MAX_DEPTH
from toolyard.protocol.jsonrpc import Malformed, decode

pytestmark = pytest.mark.long

PROGRAM = [sys.executable, "-m", "tests.peers.inmemory", "stdio"]
FINE = '{"jsonrpc":"2.0","id":99,"method":"ping"}'


def nested(levels: int) -> bytes:
    opened = b'{"jsonrpc":"2.0","id":99,"method":"ping","params":{"x":'
    return opened + b"[" * (levels - 2) + b"]" * (levels - 2) + b"}}"


BAD_LINES: dict[str, tuple[bytes, int]] = {
    "not JSON": (b"this is not JSON", -32700),
    "cut off": (b'{"jsonrpc":"2.0","id":1,', -32700),
    "invalid UTF-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}', -32700),
    "10,000 levels": (nested(10_000), -32700),
    "201 levels": (nested(201), -32600),
    "50 MB": (b'{"jsonrpc":"2.0","id":1,"x":"' + b"a" * 50_000_000 + b'"}', -32600),
    "no jsonrpc": (b'{"id":1,"method":"ping"}', -32600),
    "wrong jsonrpc": (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
    "no method": (b'{"jsonrpc":"2.0","id":1}', -32600),
    "method of the wrong type": (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
    "params of the wrong type": (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32600),
    "null id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
    "an object as id": (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
    "a number": (b"42", -32600),
    "an empty batch": (b"[]", -32600),
    "a batch where there are none": (f"[{FINE}]".encode(), -32600),
    "NaN": (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700),
}


@pytest.mark.parametrize("what", BAD_LINES)
async def test_a_bad_line_gets_its_error_and_the_next_is_answered(what: str) -> None:
    line, code = BAD_LINES[what]
    async with over_stdio(PROGRAM, "2025-11-25") as client:
        before = len(client.heard)
        await client.send_line(line)
        assert await client.result("ping", id="after") == {}
        answers = client.heard[before:]
        assert [answer.get("error", {}).get("code") for answer in answers] == [code, None]


async def test_200_levels_are_allowed() -> None:
    async with over_stdio(PROGRAM, "2025-11-25") as client:
        await client.send_line(nested(MAX_DEPTH))
        assert await client.result("ping", id="after") == {}
        assert all("error" not in answer for answer in client.heard)


async def test_blank_lines_and_a_byte_order_mark_do_no_harm() -> None:
    async with over_stdio(PROGRAM, "2025-11-25") as client:
        await client.send_line(b"")
        await client.send_line(b"   \r")
        future = await client.begin(client.message("ping", id="bom"))
        assert (await future)["result"] == {}
        await client.send_line(b"\xef\xbb\xbf" + FINE.encode() + b"\r")
        assert await client.result("ping", id="after") == {}
        assert {"jsonrpc": "2.0", "id": 99, "result": {}} in client.heard


async def test_an_id_that_is_in_flight_is_refused_and_the_first_call_goes_on() -> None:
    async with over_stdio(PROGRAM, "2025-11-25", checked=False) as client:
        call = {"name": "hang", "arguments": {}, "_meta": {"progressToken": 1}}
        await client.send({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": call})
        await client.notification("notifications/progress")
        again = await client.request("ping", id=5)
        assert again["error"]["code"] == -32600
        await client.notify("notifications/cancelled", {"requestId": 5})
        assert await client.result("ping", id=5) == {}


@pytest.mark.parametrize("id", ["text", "", "0", 0, -1, 2**53, 2**70, "ü\u2028"])
async def test_ids_of_every_kind_come_back_as_they_were(id: Any) -> None:
    async with over_stdio(PROGRAM, "2025-11-25", checked=False) as client:
        response = await client.request("ping", id=id)
        assert response == {"jsonrpc": "2.0", "id": id, "result": {}}


async def test_a_batch_of_2025_03_26_is_answered_with_one_array() -> None:
    async with over_stdio(PROGRAM, "2025-03-26") as client:
        batch = [
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/other"},
            {"jsonrpc": "2.0", "id": "b", "method": "no/such"},
            {"jsonrpc": "2.0", "id": "c", "method": "initialize", "params": {}},
            7,
        ]
        await client.send_line(json.dumps(batch).encode())
        await until(lambda: any(line.startswith(b"[") for line in client.lines))
        [answers] = [json.loads(line) for line in client.lines if line.startswith(b"[")]
        assert [(a["id"], a.get("error", {}).get("code")) for a in answers] == [
            ("a", None),
            ("b", -32601),
            ("c", -32600),
            (None, -32600),
        ]


async def test_a_batch_without_requests_is_not_answered() -> None:
    async with over_stdio(PROGRAM, "2025-03-26") as client:
        await client.send_line(b'[{"jsonrpc":"2.0","method":"notifications/other"}]')
        await client.result("ping", id="after")
        assert [answer["id"] for answer in client.heard] == [1, "after"]


async def test_the_end_of_input_ends_the_program_after_its_answers() -> None:
    async with over_stdio(PROGRAM, "2025-11-25") as client:
        future = await client.begin(client.message("tools/list", id="last"))
        assert await client.end_of_input() == 0
        assert "result" in await future


async def test_a_call_that_hangs_does_not_keep_the_program_alive() -> None:
    async with over_stdio(PROGRAM, "2025-11-25", checked=False) as client:
        params = {"name": "hang", "arguments": {}, "_meta": {"progressToken": 1}}
        call = await client.begin(client.message("tools/call", params))
        await client.notification("notifications/progress")
        assert await client.end_of_input() == 0
        assert (await call)["error"]["message"] == "Server shutting down"


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
methods = st.sampled_from(["ping", "tools/list", "tools/call", "resources/read", "initialize"])
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | values,
        "id": st.integers() | st.text(max_size=5) | values,
        "method": methods | values,
        "params": values,
        "result": values,
        "error": values,
    },
)


@given(st.binary(max_size=300) | messages.map(lambda m: json.dumps(m).encode()))
@settings(max_examples=400, deadline=None)
def test_the_decoder_takes_anything(data: bytes) -> None:
    decoded = decode(data)
    for message in decoded if isinstance(decoded, list) else [decoded]:
        if isinstance(message, Malformed):
            answer = json.loads(jsonrpc.encode_error(message.id, message.error))
            assert answer["error"]["code"] in (-32700, -32600)


@given(values)
@settings(max_examples=200, deadline=None)
def test_what_is_encoded_decodes_to_the_same(value: Any) -> None:
    assert json.loads(codec.dumps(value)) == json.loads(json.dumps(value))


@given(st.integers())
@settings(max_examples=100, deadline=None)
def test_integers_of_any_size_keep_their_value(number: int) -> None:
    assert codec.loads(codec.dumps([number])) == [number]


async def answered(client: StdioClient, lines: list[bytes]) -> list[Any]:
    """What the program said to these lines."""
    before = len(client.heard)
    for line in lines:
        await client.send_line(line.replace(b"\n", b" ").replace(b"\r", b" "))
    await client.result("ping", id="fence")
    return client.heard[before:]


@pytest.mark.parametrize("seed", range(4))
async def test_random_messages_never_stop_the_program(seed: int) -> None:
    """Every answer fits its schema: the client checks each as it comes."""
    lines: list[bytes] = []

    @given(messages)
    @settings(max_examples=120, deadline=None, database=None, derandomize=bool(seed))
    def collect(message: dict[str, Any]) -> None:
        lines.append(json.dumps(message).encode())

    collect()
    async with over_stdio(PROGRAM, "2025-11-25", start=seed % 2 == 0) as client:
        for answer in await answered(client, lines):
            if "error" in answer:
                assert not schemas.problems({**answer, "id": 1}, "2025-11-25")
