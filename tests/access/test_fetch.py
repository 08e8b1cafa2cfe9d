"""Where discovery may go, and where it may not be sent: nothing private is ever reached."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.peers.web import Answer, Site, serving_site
from toolyard.http.fetching.addresses import NotAllowed
from toolyard.http.fetching.dial import GuardedDial
from toolyard.http.fetching.fetch import FetchError, Forbidden, GuardedFetch, shown


@pytest.fixture
def site() -> Iterator[Site]:
    with serving_site(Site({"/secret": lambda asked: Answer(200, b"secret")})) as served:
        yield served


SPELLINGS = [
    "127.0.0.1",
    "localhost",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "localhost.",
    "127.0.0.1.",
]


@pytest.mark.parametrize("host", SPELLINGS)
async def test_a_public_server_cannot_send_us_to_loopback(site: Site, host: str) -> None:
    port = site.origin.rpartition(":")[2]
    for scheme in ("https", "http"):
        with pytest.raises(Forbidden):
            await GuardedFetch("https://mcp.example/mcp")("GET", f"{scheme}://{host}:{port}/secret")
    assert site.asked == []


@pytest.mark.parametrize(
    "host",
    [
        *("10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("[fd00::1]", "[fe80::1]", "[::]", "[::ffff:10.0.0.1]", "[::ffff:a9fe:a9fe]"),
        *("[64:ff9b::a9fe:a9fe]", "3232235777", "224.0.0.1", "[ff02::1]", "[fec0::1]"),
    ],
)
@pytest.mark.parametrize("own", ["https://mcp.example/mcp", "http://127.0.0.1:8000/mcp"])
async def test_no_server_can_send_us_into_the_private_network(host: str, own: str) -> None:
    with pytest.raises(Forbidden):
        await GuardedFetch(own)("GET", f"https://{host}/latest/meta-data")


async def test_a_server_on_loopback_may_have_its_issuer_there(site: Site) -> None:
    fetched = await GuardedFetch("http://localhost:1/mcp")("GET", f"{site.origin}/secret")
    assert fetched.body == b"secret"


async def test_the_host_that_the_registry_names_may_be_anywhere(site: Site) -> None:
    fetched = await GuardedFetch(f"{site.origin}/mcp")("GET", f"{site.origin}/secret")
    assert fetched.status == 200


@pytest.mark.parametrize(
    "target",
    ["http://10.0.0.1/", "https://169.254.169.254/", "http://93.184.216.34/", "file:///etc/passwd"],
)
async def test_a_redirect_is_checked_like_the_first_url(site: Site, target: str) -> None:
    site.routes["/go"] = lambda asked: Answer(302, headers={"Location": target})
    with pytest.raises(FetchError):
        await GuardedFetch(f"{site.origin}/mcp")("GET", f"{site.origin}/go", follow=True)


async def test_redirects_come_to_an_end_and_are_followed_only_where_asked(site: Site) -> None:
    site.routes["/go"] = lambda asked: Answer(302, headers={"Location": "/go"})
    fetch = GuardedFetch(f"{site.origin}/mcp")
    with pytest.raises(FetchError, match="too often"):
        await fetch("GET", f"{site.origin}/go", follow=True)
    assert (await fetch("POST", f"{site.origin}/go", {}, b"code=secret")).status == 302


async def test_the_address_that_was_checked_is_the_one_that_is_dialled(site: Site) -> None:
    """A name that changes between the check and the connection is looked up once only."""
    answers = [["127.0.0.1"], ["10.0.0.1"]]

    async def resolve(host: str, port: int) -> list[str]:
        return answers.pop(0)

    dial = GuardedDial(loopback=True, resolve=resolve)
    sock = await dial("rebinding.example", int(site.origin.rpartition(":")[2]))
    assert sock.getpeername()[0] == "127.0.0.1" and answers == [["10.0.0.1"]]
    sock.close()


async def test_a_name_with_one_private_address_is_refused_whole() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        return ["93.184.216.34", "10.0.0.1"]

    with pytest.raises(NotAllowed):
        await GuardedDial(resolve=resolve)("mixed.example", 443)


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://a.example/", "https://", "//a.example", "https://a.example/\r\nX: y"),
        *("https://user:pass@a.example/", "https://a.example/ HTTP/1.1", "https://a.example:bad/"),
        "http://a.example/",
    ],
)
async def test_malformed_urls_and_plain_http_are_refused(url: str) -> None:
    with pytest.raises(Forbidden):
        await GuardedFetch("https://mcp.example/mcp")("GET", url)


async def test_an_endless_answer_is_cut_off(site: Site) -> None:
    site.routes["/big"] = lambda asked: Answer(200, b"x" * (2 * 1024 * 1024))
    with pytest.raises(FetchError, match="too big"):
        await GuardedFetch(f"{site.origin}/mcp")("GET", f"{site.origin}/big")


def test_a_url_in_a_message_shows_no_query_and_breaks_no_line() -> None:
    assert shown("https://a.example/x?code=secret") == "https://a.example/x"
    assert "\n" not in shown("https://a.example/\nforged")
