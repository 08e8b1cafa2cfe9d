"""OTLP over HTTP: where a collector is, and how it gets what it is sent.

The variables are those of OpenTelemetry's specification, which every collector's documentation
names. What is sent are bytes that `otel.py` has made; this module knows nothing of spans. The SDK
of OpenTelemetry does the same and more: it takes 45 microseconds to encode a span, which is half
of what a call costs, and brings ten packages along.

Sending happens in threads that nobody waits for, so it is done with what Python has.
"""

from __future__ import annotations

import base64
import gzip
import http.client
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from toolyard import __version__
from toolyard.telemetry import logger

log = logger("otlp")
OtlpSignal = Literal["traces", "metrics"]
DEFAULT_ENDPOINT = "http://localhost:4318"
DEFAULT_TIMEOUT = 10.0
PROTOCOL = "http/protobuf"
# The collector may take it later.
_PASSING = frozenset({429, 502, 503, 504})
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 5.0


class OtlpVariables(NamedTuple):
    """`OTEL_EXPORTER_OTLP_…`; what is said of one signal wins over what is said of all."""

    environ: Mapping[str, str]
    signal: OtlpSignal

    def named(self, name: str) -> tuple[str, str]:
        """The variable that says it, and what it says; that may be nothing."""
        own = f"OTEL_EXPORTER_OTLP_{self.signal.upper()}_{name}"
        if self.environ.get(own):
            return own, self.environ[own]
        common = f"OTEL_EXPORTER_OTLP_{name}"
        return common, self.environ.get(common, "")

    def endpoint(self) -> str:
        name, value = self.named("ENDPOINT")
        parts = urlsplit(value or DEFAULT_ENDPOINT)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            shown = "one with an @" if "@" in value else repr(value)  # it may have a password
            raise ValueError(f"{name}: expected the URL of a collector, not {shown}")
        if name.endswith(f"{self.signal.upper()}_ENDPOINT"):
            return value
        path = f"{parts.path.rstrip('/')}/v1/{self.signal}"
        return parts._replace(path=path).geturl()

    def headers(self) -> dict[str, str]:
        name, value = self.named("HEADERS")
        headers = dict(_pairs(name, value))
        if any(not text.isprintable() or not text.isascii() for text in headers.values()):
            raise ValueError(f"{name}: a value has characters that no header may have")
        return headers

    def timeout(self) -> float:
        """In seconds; the variable says milliseconds."""
        name, value = self.named("TIMEOUT")
        if value and not (value.isdecimal() and int(value)):
            raise ValueError(f"{name}: expected milliseconds, not {value!r}")
        return int(value) / 1000 if value else DEFAULT_TIMEOUT

    def is_compressed(self) -> bool:
        name, value = self.named("COMPRESSION")
        if value not in ("", "none", "gzip"):
            raise ValueError(f"{name}: expected gzip or none, not {value!r}")
        return value == "gzip"

    def trust(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.named("CERTIFICATE")[1] or None)
            certificate = self.named("CLIENT_CERTIFICATE")[1]
            if certificate:
                context.load_cert_chain(certificate, self.named("CLIENT_KEY")[1] or None)
        except OSError as error:  # ssl.SSLError is one
            name = self.named("CERTIFICATE")[0]
            raise ValueError(f"{name}: certificates cannot be read: {error}") from None
        return context


def resource_attributes(environ: Mapping[str, str], service: str) -> dict[str, str]:
    """Who we are; `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win over what we say."""
    name = "OTEL_RESOURCE_ATTRIBUTES"
    attributes = {
        "service.name": service,
        "service.version": __version__,
        "telemetry.sdk.language": "python",
        "telemetry.sdk.name": "toolyard",
        "telemetry.sdk.version": __version__,
        **dict(_pairs(name, environ.get(name, ""))),
    }
    if environ.get("OTEL_SERVICE_NAME"):
        attributes["service.name"] = environ["OTEL_SERVICE_NAME"]
    return attributes


def _pairs(name: str, text: str) -> list[tuple[str, str]]:
    """Of `key=value,key=value`, percent-encoded. Values may be secrets, and are not repeated."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    if any(not key.strip() or not sign for key, sign, _ in pairs):
        raise ValueError(f"{name}: expected key=value, separated by commas")
    return [(unquote(key.strip()), unquote(value.strip())) for key, _, value in pairs]


def _without_credentials(url: str) -> tuple[str, dict[str, str]]:
    """The URL without name and password, and the header that says them."""
    parts = urlsplit(url)
    if parts.username is None:
        return url, {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    place = parts.netloc.rpartition("@")[2]
    basic = base64.b64encode(pair.encode()).decode()
    return parts._replace(netloc=place).geturl(), {"Authorization": f"Basic {basic}"}


def _in_words(error: Exception) -> str:
    cause = getattr(error, "reason", error)  # urllib wraps what the socket said
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A collector that is elsewhere is a mistake of whoever configured it."""

    def redirect_request(self, *_: object) -> None:
        return None


class Collector:
    """Where one signal is sent. Whoever sends waits, for `timeout` seconds at most."""

    def __init__(self, signal: OtlpSignal, environ: Mapping[str, str]) -> None:
        """Raises ValueError where a variable makes no sense, beginning with its name."""
        variables = OtlpVariables(environ, signal)
        name, protocol = variables.named("PROTOCOL")
        if protocol not in ("", PROTOCOL):
            log.warning("%s: only %s is spoken, not %r", name, PROTOCOL, protocol)
        self._signal = signal
        self._endpoint, credentials = _without_credentials(variables.endpoint())
        self._timeout = variables.timeout()
        self._is_compressed = variables.is_compressed()
        self._headers = {
            "User-Agent": f"toolyard/{__version__}",
            **credentials,
            **variables.headers(),
            "Content-Type": "application/x-protobuf",
        }
        if self._is_compressed:
            self._headers["Content-Encoding"] = "gzip"
        trust = urllib.request.HTTPSHandler(context=variables.trust())
        self._opener = urllib.request.build_opener(_NoRedirects, trust)
        self._closing = threading.Event()

    def send(self, body: bytes) -> bool:
        """Says whether it has arrived."""
        if self._is_compressed:
            body = gzip.compress(body)
        until = time.monotonic() + self._timeout
        pause = _FIRST_PAUSE
        while True:
            try:
                self._post(body, until - time.monotonic())
                return True
            except urllib.error.HTTPError as error:
                why = f"status {error.code}"
                if error.code not in _PASSING:
                    break
                after = error.headers.get("Retry-After", "")
                wait = float(after) if after.isdecimal() else pause
            except (OSError, http.client.HTTPException) as error:
                why = _in_words(error)
                wait = pause
            if time.monotonic() + wait >= until or self._closing.wait(wait):
                break
            pause = min(pause * 2, _LONGEST_PAUSE)
        log.warning("%s were not sent to %s: %s", self._signal, self._endpoint, why)
        return False

    def _post(self, body: bytes, timeout: float) -> None:
        request = urllib.request.Request(self._endpoint, body, self._headers, method="POST")
        with self._opener.open(request, timeout=timeout) as answer:
            answer.read()

    def close(self) -> None:
        """From now on everything is tried once, what is being sent included."""
        self._closing.set()
