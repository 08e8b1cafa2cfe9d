"""Sending to a collector: which variables say where and how, and what happens when it will not."""

from __future__ import annotations

import base64
import gzip
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.program import toolyard
from tests.project.secure import https_server, make_certificate
from toolyard.observation.otlp import Collector, OtlpVariables, resource_attributes

COMMON, OWN = "OTEL_EXPORTER_OTLP_", "OTEL_EXPORTER_OTLP_TRACES_"


@dataclass
class Received:
    """What a collector got, and what it answers: one status after the other, then 200."""

    statuses: list[int] = field(default_factory=list)
    retry_after: str = ""
    posts: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    url: str = ""


@contextmanager
def collecting(*statuses: int, retry_after: str = "") -> Iterator[Received]:
    received = Received(list(statuses), retry_after)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            received.posts.append((self.path, headers, body))
            self.send_response(received.statuses.pop(0) if received.statuses else 200)
            if received.retry_after:
                self.send_header("Retry-After", received.retry_after)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield received
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("environ", "endpoint"),
    [
        ({}, "http://localhost:4318/v1/traces"),
        ({f"{COMMON}ENDPOINT": "http://c:1"}, "http://c:1/v1/traces"),
        ({f"{COMMON}ENDPOINT": "http://c:1/"}, "http://c:1/v1/traces"),
        ({f"{COMMON}ENDPOINT": "https://c/otlp/"}, "https://c/otlp/v1/traces"),
        ({f"{COMMON}ENDPOINT": "http://c/?k=1"}, "http://c/v1/traces?k=1"),
        ({f"{OWN}ENDPOINT": "http://c/mine"}, "http://c/mine"),
        ({f"{OWN}ENDPOINT": "http://c", f"{COMMON}ENDPOINT": "http://d"}, "http://c"),
    ],
)
def test_where_a_signal_goes(environ: dict[str, str], endpoint: str) -> None:
    assert OtlpVariables(environ, "traces").endpoint() == endpoint


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("ENDPOINT", "collector:4318", "expected the URL of a collector, not 'collector:4318'"),
        ("ENDPOINT", "file:///etc/passwd", "expected the URL of a collector"),
        ("ENDPOINT", "user:secret@collector", "expected the URL of a collector, not one with an @"),
        ("HEADERS", "secret", "expected key=value, separated by commas"),
        ("HEADERS", "key=a%0D%0Asecret", "a value has characters that no header may have"),
        ("TIMEOUT", "soon", "expected milliseconds, not 'soon'"),
        ("TIMEOUT", "0", "expected milliseconds, not '0'"),
        ("COMPRESSION", "zip", "expected gzip or none, not 'zip'"),
        ("CERTIFICATE", "/nowhere.pem", "certificates cannot be read"),
    ],
)
@pytest.mark.parametrize("prefix", [COMMON, OWN])
def test_a_mistake_names_the_variable_and_no_secret(
    prefix: str, name: str, value: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=f"^{prefix}{name}: ") as raised:
        Collector("traces", {f"{prefix}{name}": value})
    assert sentence in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("signal", ["TRACES", "METRICS"])
def test_a_mistake_ends_serve_with_that_sentence(signal: str, tmp_path: Path) -> None:
    name = f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"
    (tmp_path / "tools").mkdir()
    done = toolyard("serve", "--http", "0", cwd=tmp_path, env={name: "collector:4318"})
    assert done.code != 0
    assert name in done.err and "expected the URL of a collector" in done.err
    assert "Traceback" not in done.err


def test_headers_and_compression_are_those_that_were_asked_for() -> None:
    with collecting() as received:
        environ = {
            f"{COMMON}ENDPOINT": received.url,
            f"{COMMON}HEADERS": "api-key=a%3Db, x-team = blue",
            f"{OWN}COMPRESSION": "gzip",
        }
        assert Collector("traces", environ).send(b"spans")
        assert Collector("metrics", environ).send(b"numbers")
    (path, headers, body), (other_path, other_headers, other_body) = received.posts
    assert (path, other_path) == ("/v1/traces", "/v1/metrics")
    assert (headers["api-key"], headers["x-team"]) == ("a=b", "blue")
    assert headers["content-type"] == other_headers["content-type"] == "application/x-protobuf"
    assert headers["content-encoding"] == "gzip" and gzip.decompress(body) == b"spans"
    assert "content-encoding" not in other_headers and other_body == b"numbers"


def test_a_certificate_of_its_own_is_trusted_where_a_variable_says_so(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)

    def take(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.send_response(200)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with https_server(certificate, take) as port:
        environ = {f"{COMMON}ENDPOINT": f"https://127.0.0.1:{port}", f"{COMMON}TIMEOUT": "900"}
        assert not Collector("traces", environ).send(b"spans")
        environ[f"{COMMON}CERTIFICATE"] = str(certificate.cert)
        assert Collector("traces", environ).send(b"spans")


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_may_pass_is_tried_again(status: int) -> None:
    with collecting(status, retry_after="0") as received:
        assert Collector("traces", {f"{COMMON}ENDPOINT": received.url}).send(b"spans")
    assert [body for _, _, body in received.posts] == [b"spans", b"spans"]


@pytest.mark.parametrize("status", [307, 302, 400, 401, 500])
def test_what_will_not_pass_is_said_and_not_tried_again(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with collecting(status) as received, caplog.at_level(logging.WARNING):
        url = received.url.replace("http://", "http://user:secret@")
        assert not Collector("traces", {f"{COMMON}ENDPOINT": url}).send(b"spans")
    ((_, headers, _),) = received.posts
    assert base64.b64decode(headers["authorization"].removeprefix("Basic ")) == b"user:secret"
    assert f"status {status}" in caplog.text
    assert "secret" not in caplog.text


def test_nobody_there_is_given_up_when_the_time_is_over(caplog: pytest.LogCaptureFixture) -> None:
    with collecting() as gone:
        pass
    environ = {f"{COMMON}ENDPOINT": gone.url, f"{COMMON}TIMEOUT": "100"}
    with caplog.at_level(logging.WARNING):
        assert not Collector("traces", environ).send(b"spans")
    assert f"traces were not sent to {gone.url}/v1/traces: Connection refused" in caplog.text


def test_who_closes_waits_for_no_other_try() -> None:
    with collecting(503, retry_after="9") as received:
        collector = Collector("traces", {f"{COMMON}ENDPOINT": received.url})
        collector.close()
        assert not collector.send(b"spans")
    assert len(received.posts) == 1


def test_another_protocol_is_said_and_http_spoken(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        Collector("traces", {f"{COMMON}PROTOCOL": "grpc"})
    assert f"{COMMON}PROTOCOL: only http/protobuf is spoken, not 'grpc'" in caplog.text


def test_who_we_are_can_be_said_by_variables() -> None:
    assert resource_attributes({}, "yard")["service.name"] == "yard"
    said = {"OTEL_RESOURCE_ATTRIBUTES": "service.name=a,deployment.environment=live%20one"}
    found = resource_attributes(said, "yard")
    assert (found["service.name"], found["deployment.environment"]) == ("a", "live one")
    both = {**said, "OTEL_SERVICE_NAME": "b"}
    assert resource_attributes(both, "yard")["service.name"] == "b"
