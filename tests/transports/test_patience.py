"""How long a connection may keep us waiting, and how many there may be."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.peers.http1 import fetch
from tests.peers.raw_http import over_http, over_sse
from tests.peers.serving import Listening, environment, listening, serving, toolyard
from tests.processes import has_owner
from tests.until import WITHIN, until
from toolyard.access.tokens import hash_of, new_token
from toolyard.http.serving.patience import Addresses, Patience

pytestmark = pytest.mark.asyncio(loop_scope="module")
OLD = "2025-11-25"
HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
# Short to wait for, and long enough for what a test sends on a machine that is busy.
SHORT = {
    "TOOLYARD_HEAD_TIMEOUT": "3",
    "TOOLYARD_BODY_TIMEOUT": "3",
    "TOOLYARD_KEEP_ALIVE": "3",
    "TOOLYARD_STALL_TIMEOUT": "3",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hasty(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    """A server that waits for nobody."""
    root = tmp_path_factory.mktemp("project")
    (root / "resources").mkdir()
    (root / "resources/large.txt").write_text("x" * 8_000_000)
    async with serving(root, env=SHORT) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    """One that takes twenty connections, and has time."""
    env = {"TOOLYARD_MAX_CONNECTIONS": "20"}
    async with serving(tmp_path_factory.mktemp("empty"), env=env) as running:
        yield running


async def connected(server: Listening) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = server.origin.removeprefix("http://").split(":")
    return await asyncio.open_connection(host, int(port))


async def last_words(server: Listening, said: bytes) -> bytes:
    """What the server says before it hangs up on a client that says no more than this."""
    reader, writer = await connected(server)
    writer.write(said)
    async with asyncio.timeout(WITHIN):
        heard = await reader.read()
    writer.close()
    return heard


WAITING = (
    (b"POST /mcp HTTP/1.1\r\nHost: loc", b"408"),
    (HEAD + b"Content-Length: 100\r\n\r\n{", b"408"),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", b"408"),
    (HEAD + b"Content-Length: 9\r\nExpect: 100-continue\r\n\r\n", b"408"),
    (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"200"),
    (b"", b""),
)


async def test_whoever_keeps_us_waiting_is_hung_up_on(hasty: Listening) -> None:
    heard = await asyncio.gather(*(last_words(hasty, said) for said, _ in WAITING))
    for words, (said, expected) in zip(heard, WAITING, strict=True):
        assert expected in words, said


async def test_a_head_that_comes_byte_by_byte_is_not_waited_for(hasty: Listening) -> None:
    reader, writer = await connected(hasty)
    writer.write(b"GET /")
    heard = asyncio.create_task(reader.readuntil(b"\r\n"))
    async with asyncio.timeout(WITHIN):
        while not heard.done():
            writer.write(b"x")
            await asyncio.wait([heard], timeout=0.2)
    assert b"408" in heard.result()
    writer.close()


async def test_a_client_that_takes_nothing_of_its_answer_is_hung_up_on(hasty: Listening) -> None:
    uri = f"file://{await large(hasty)}"
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "resources/read"}
    body = json.dumps({**message, "params": {"uri": uri, "_meta": meta}}).encode()
    routed = f"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: resources/read\r\nMcp-Name: {uri}"
    reader, writer = await connected(hasty)
    writer.write(HEAD + f"{routed}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
    assert b"200" in await reader.readline()
    ports = writer.get_extra_info("peername")[1], writer.get_extra_info("sockname")[1]
    await until(lambda: not has_owner(*ports))
    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await reader.readexactly(8_000_000)
    writer.close()


async def large(server: Listening) -> str:
    async with over_http(server.url, OLD) as client:
        (listed,) = (await client.result("resources/list"))["resources"]
        return str(listed["uri"]).removeprefix("file://")


async def test_there_are_so_many_connections_and_idle_ones_make_way(tmp_path: Path) -> None:
    # With the usual deadlines: nobody is sent away for being slow on a busy machine.
    few = {"TOOLYARD_MAX_CONNECTIONS": "20"}
    async with serving(tmp_path, "--no-page", env=few) as server:
        await _more_than_may(server)
        with ExitStack() as idle:
            for _ in range(40):
                idle.callback((await connected(server))[1].close)
            # Once it has noticed that those streams are closed.
            await until(lambda: is_served(server))


async def test_of_those_who_come_at_once_the_idle_make_way(tmp_path: Path) -> None:
    few = {"TOOLYARD_MAX_CONNECTIONS": "20"}
    async with serving(tmp_path, "--no-page", env=few) as server, AsyncExitStack() as stack:
        server.process.send_signal(signal.SIGSTOP)
        for _ in range(40):
            stack.callback((await connected(server))[1].close)
        asking = [await connected(server) for _ in range(19)]
        for _, writer in asking:
            stack.callback(writer.close)
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        server.process.send_signal(signal.SIGCONT)
        async with asyncio.timeout(20):
            answers = [await reader.readexactly(12) for reader, _ in asking]
        assert answers == [b"HTTP/1.1 200"] * 19


async def test_hundreds_may_come_while_it_is_busy(tmp_path: Path) -> None:
    if int(Path("/proc/sys/net/core/somaxconn").read_text()) < 512:
        pytest.skip("this machine lets fewer wait")
    async with serving(tmp_path, "--no-page") as server, AsyncExitStack() as stack:
        server.process.send_signal(signal.SIGSTOP)
        stack.callback(server.process.send_signal, signal.SIGCONT)
        async with asyncio.timeout(20):
            for _ in range(400):
                stack.callback((await connected(server))[1].close)


async def _more_than_may(server: Listening) -> None:
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(over_http(server.url, OLD))
        streams: list[Any] = []
        for _ in range(30):
            got = fetch("GET", server.url, {**client.right(None), "Accept": "text/event-stream"})
            streams.append((await stack.enter_async_context(got)).status)
        assert (streams.count(200), streams.count(503)) == (20, 10)


async def is_served(server: Listening) -> bool:
    try:
        async with fetch("GET", f"{server.origin}/healthz") as reply:
            return reply.status == 200
    except (ConnectionError, EOFError):
        return False


async def test_connections_are_counted_by_address_but_for_those_of_this_machine() -> None:
    addresses = Addresses(2)
    assert [addresses.enter("192.0.2.1") for _ in range(3)] == [True, True, False]
    assert addresses.enter("2001:db8::1")
    addresses.leave("192.0.2.1")
    addresses.leave("192.0.2.1")
    assert addresses.enter("192.0.2.1")
    own = ("127.0.0.1", "127.0.0.2", "::1", "", "::ffff:127.0.0.1")
    assert all(addresses.enter(address) for address in own * 2)
    assert addresses.enter("::ffff:192.0.2.1") is False  # the same host, over IPv6
    assert [addresses.enter(f"2001:db8::{n}") for n in (2, 3)] == [True, False]  # the same /64


async def test_no_more_connections_are_taken_than_there_are_descriptors_for() -> None:
    assert Patience(connections=7).most == 7
    assert Patience(connections=10**9).most < 10**9


@pytest.mark.parametrize("word", ["100-continue", "100-Continue", "100-CONTINUE"])
async def test_a_client_that_asks_first_is_told_to_go_ahead(server: Listening, word: str) -> None:
    reader, writer = await connected(server)
    writer.write(HEAD + f"Content-Length: 2\r\nExpect: {word}\r\n\r\n".encode())
    async with asyncio.timeout(WITHIN):
        assert await reader.readline() == b"HTTP/1.1 100 Continue\r\n"
    writer.close()


@pytest.mark.parametrize(
    "hosts, status",
    [
        (["localhost"], 200),
        (["LocalHost:1234"], 200),
        (["[::1]:80"], 200),
        (["localhost", "localhost"], 400),
        (["localhost", "evil.example"], 400),
        (["user@localhost"], 403),
        (["localhost?x"], 403),
        (["localhost#x"], 403),
        (["localhost:port"], 403),
        (["http://localhost"], 403),
        (["http://localhost/"], 403),
        (["local\thost"], 403),
        (["localhost:80:80"], 403),
        (["//localhost"], 403),
        (["[::1"], 403),
        ([""], 403),
    ],
)
async def test_one_host_is_named_and_plainly(
    server: Listening, hosts: list[str], status: int
) -> None:
    named = "".join(f"Host: {host}\r\n" for host in hosts)
    head = f"GET /healthz HTTP/1.1\r\n{named}Connection: close\r\n\r\n"
    heard = await last_words(server, head.encode())
    assert heard.startswith(f"HTTP/1.1 {status} ".encode()), heard


async def test_opening_sessions_is_counted_and_ends_nobody_elses(tmp_path: Path) -> None:
    config = {
        "tokens": [],
        "limits": [{"for": {"token": "ada"}, "calls": 5, "seconds": 600}],
    }
    ada, eve = token(config, "ada"), token(config, "eve")
    (tmp_path / "toolyard.json").write_text(json.dumps(config))
    env = {"TOOLYARD_MAX_SESSIONS_PER_CALLER": "3", "TOOLYARD_MAX_SESSIONS": "4"}
    async with (
        serving(tmp_path, env=env) as server,
        over_http(server.url, OLD, headers=eve) as first,
        over_http(server.url, OLD, headers=eve, start=False) as other,
    ):
        await first.result("ping")
        hello = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "x"}}
        statuses = []
        for _ in range(8):
            posted = await other.post(other.message("initialize", hello), ada)
            statuses.append(posted.status)
        assert statuses == [200] * 5 + [429] * 3
        await first.result("ping")
        for _ in range(9):  # of her own: the one that she uses stays
            await other.post(other.message("initialize", hello))
            await first.result("ping")
        async with fetch("GET", f"{server.origin}/sse", ada) as refused:
            assert refused.status == 429


def token(config: dict[str, Any], name: str) -> dict[str, str]:
    made = new_token()
    config["tokens"].append({"name": name, "hash": hash_of(made)})
    return {"Authorization": f"Bearer {made}"}


async def test_the_older_pair_is_still_served(server: Listening) -> None:
    async with over_sse(f"{server.origin}/sse") as client:
        assert await client.result("ping") == {}


@pytest.mark.parametrize(("hard", "expected"), [(4000, 4000), (12_000, 2 * 4096 + 1024)])
async def test_descriptors_for_many_connections_are_asked_for_as_far_as_they_are_allowed(
    tmp_path: Path, hard: int, expected: int
) -> None:
    ours = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if ours != resource.RLIM_INFINITY and ours < hard:
        pytest.skip("this machine allows fewer descriptors")
    limited = f'ulimit -Sn 200 && ulimit -Hn {hard} && exec "$@"'
    command = toolyard("serve", tmp_path, "--http", "127.0.0.1:0", "--no-page")
    async with listening(["bash", "-c", limited, "bash", *command], env=environment()) as server:
        limits = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    assert limits == (expected, hard)
