"""The https provider: one checked GET, bounded in every way."""

import asyncio
import http.server
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.project.secure import HOST, Answer, Certificate, https_server, make_certificate
from toolyard.errors import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, ProtocolError
from toolyard.http.fetching.addresses import HostRules
from toolyard.http.fetching.dial import GuardedDial
from toolyard.scripts.resources.https import HttpsLimits, HttpsProvider


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


def answering(
    status: int = 200, body: bytes = b"text", **headers: str
) -> Callable[[http.server.BaseHTTPRequestHandler], None]:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


async def loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


def provider(certificate: Certificate, limits: HttpsLimits | None = None) -> HttpsProvider:
    """As in production, but for loopback: it stands for a public address here."""
    rules = HostRules(allow=(HOST,))
    dial = GuardedDial(rules, loopback=True, resolve=loopback)
    return HttpsProvider(dial, limits or HttpsLimits(), certificate.trusting())


async def read(
    certificate: Certificate,
    answer: Answer,
    limits: HttpsLimits | None = None,
    path: str = "/a?b=c",
) -> object:
    with https_server(certificate, answer) as port:
        uri = f"https://{HOST}:{port}{path}"
        return await provider(certificate, limits).read({"uri": uri}, None, None)


async def refused(
    certificate: Certificate, answer: Answer, limits: HttpsLimits | None = None
) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        await read(certificate, answer, limits)
    return caught.value


async def test_a_resource_is_fetched_with_its_type(certificate: Certificate) -> None:
    seen: list[str] = []

    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        seen.append(f"{request.path} {request.headers['Host']} {request.headers['User-Agent']}")
        answering(body=b"<p>", Content_Type="text/html; charset=utf-8")(request)

    assert await read(certificate, answer) == (b"<p>", "text/html")
    assert seen[0].startswith(f"/a?b=c {HOST}:") and seen[0].endswith(" toolyard")


async def test_a_redirect_is_told_and_never_followed(certificate: Certificate) -> None:
    error = await refused(certificate, answering(302, Location="https://169.254.169.254/"))
    assert (error.code, error.message) == (INTERNAL_ERROR, "redirect:https://169.254.169.254/")


async def test_missing_and_failing_resources_are_told_apart(certificate: Certificate) -> None:
    assert (await refused(certificate, answering(404))).code == RESOURCE_NOT_FOUND
    assert (await refused(certificate, answering(500))).message == "the server answered 500"


async def test_a_body_is_cut_off_at_its_limit_with_or_without_a_length(
    certificate: Certificate,
) -> None:
    limits = HttpsLimits(max_bytes=10)
    assert await read(certificate, answering(body=b"x" * 10), limits) == (b"x" * 10, None)
    error = await refused(certificate, answering(body=b"x" * 11), limits)
    assert error.message == "Resource exceeds 10 bytes"

    def endless(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Transfer-Encoding", "chunked")
        request.end_headers()
        while True:
            request.wfile.write(b"400\r\n" + b"x" * 1024 + b"\r\n")

    assert (await refused(certificate, endless, limits)).message == "Resource exceeds 10 bytes"


async def test_a_server_that_drips_is_given_up_in_time(certificate: Certificate) -> None:
    gone = threading.Event()

    def drip(request: http.server.BaseHTTPRequestHandler) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not gone.wait(0.02):
            request.wfile.write(b"H")

    try:
        error = await refused(certificate, drip, HttpsLimits(seconds=0.3))
    finally:
        gone.set()
    assert error.message == "timed out after 0.3s"


async def test_a_cancelled_read_lets_go_of_its_connection(certificate: Certificate) -> None:
    asked, dropped = threading.Event(), threading.Event()

    def hang(request: http.server.BaseHTTPRequestHandler) -> None:
        asked.set()
        request.rfile.read(1)
        dropped.set()

    task = asyncio.ensure_future(read(certificate, hang))
    await asyncio.to_thread(asked.wait)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await asyncio.to_thread(dropped.wait, 10)


async def test_a_certificate_for_another_name_is_refused(
    certificate: Certificate, tmp_path: Path
) -> None:
    dial = GuardedDial(loopback=True, resolve=loopback)
    with https_server(certificate, answering()) as port:
        for host, context in (("other.example", certificate.trusting()), (HOST, None)):
            reader = HttpsProvider(dial, HttpsLimits(), context)
            with pytest.raises(ProtocolError, match="cannot be fetched"):
                await reader.read({"uri": f"https://{host}:{port}/"}, None, None)


@pytest.mark.parametrize(
    "uri",
    [
        *("http://files.example/", "https://", "https:///path", "https://u:p@files.example/"),
        *("https://files.example:99999/", "https://files.example/a b", "https://files.example/\n"),
    ],
)  # fmt: skip
async def test_what_is_no_plain_https_url_is_refused(certificate: Certificate, uri: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        await provider(certificate).read({"uri": uri}, None, None)
    assert caught.value.code == INVALID_PARAMS


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "2130706433", "localhost", "0x7f.1"])
async def test_loopback_is_refused_by_the_real_provider(
    certificate: Certificate, host: str
) -> None:
    reader = HttpsProvider(GuardedDial(HostRules(allow_all=True)), HttpsLimits())
    with https_server(certificate, answering()) as port, pytest.raises(ProtocolError) as caught:
        await reader.read({"uri": f"https://{host}:{port}/"}, None, None)
    assert caught.value.code == INTERNAL_ERROR
    assert "public" in caught.value.message or "not a name" in caught.value.message
