"""mcp_download_safe: https only, from hosts that were allowed and addresses that are public.

A real curl talks TLS to a real server; only the names are ours: `getent` says that
files.example is a public address, and the wrapper around curl leads there to loopback.
"""

import datetime
import http.server
import json
import shutil
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.sdk.sandbox import Ran, Sandbox

CURL = shutil.which("curl")
pytestmark = pytest.mark.skipif(CURL is None, reason="curl is not installed")
PUBLIC = "93.184.215.14"
MEBIBYTE = 1 << 20
sent_whole: list[str] = []


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "https://127.0.0.1/")
            self.end_headers()
            return
        if self.path == "/endless":
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(64):
                    self.wfile.write(b"x" * MEBIBYTE)
                sent_whole.append(self.path)
            except OSError:
                pass
            return
        self.send_response(404 if self.path == "/none" else 200)
        self.end_headers()
        self.wfile.write(b"the file\0")

    def log_message(self, *_: object) -> None:
        pass


def certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "files.example")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("files.example")]), False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "pair.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


@pytest.fixture
def internet(sandbox: Sandbox, tmp_path: Path) -> Iterator[Sandbox]:
    pair = certificate(tmp_path)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    programs = tmp_path / "programs"
    programs.mkdir()
    script(
        programs / "getent",
        f"case $2 in files.example) echo '{PUBLIC} STREAM files.example';;"
        " *) [ ! -f addresses ] || cat addresses;; esac",
    )
    # Inserted after -q, which must come first.
    script(
        programs / "curl",
        f"shift; exec {CURL} -q --cacert {pair} "
        f"--connect-to {PUBLIC}:443:127.0.0.1:{server.server_port} "
        f'--connect-to files.example:443:127.0.0.1:{server.server_port} "$@"',
    )
    sandbox.environment["PATH"] = f"{programs}:{sandbox.environment['PATH']}"
    yield sandbox
    server.shutdown()
    thread.join()
    server.server_close()


def script(path: Path, body: str) -> None:
    path.write_text(f"#!/usr/bin/env bash\n{body}\n")
    path.chmod(0o755)


def download(sandbox: Sandbox, url: str, options: str = "--allow files.example") -> Ran:
    return sandbox.run(f"mcp_download_safe --url '{url}' --out got {options}")


def test_a_file_of_an_allowed_host_is_fetched(internet: Sandbox) -> None:
    ran = download(internet, "https://files.example/a")
    assert ran.json == {"success": True, "bytes": 9, "path": "got"}
    assert (internet.project / "got").read_bytes() == b"the file\0"


def test_the_allowed_hosts_may_come_from_the_settings(internet: Sandbox) -> None:
    ran = internet.run(
        "mcp_download_safe --url https://Files.example/a --out got",
        MCPBASH_HTTPS_ALLOW_HOSTS="other.example,files.example",
    )
    assert ran.json["success"] is True


@pytest.mark.parametrize(
    ("url", "options", "error"),
    [
        ("https://files.example/a", "", "host_blocked"),
        ("https://files.example/a", "--allow example", "host_blocked"),
        ("https://files.example/a", "--allow files.example --deny files.example", "host_blocked"),
        ("http://files.example/a", "--allow files.example", "invalid_url"),
        ("file:///etc/passwd", "--allow files.example", "invalid_url"),
        ("https://files.example@127.0.0.1/", "--allow files.example", "invalid_url"),
        ("https://127.0.0.1/", "--allow 127.0.0.1", "host_blocked"),
        ("https://2130706433/", "--allow 2130706433", "host_blocked"),
        ("https://0x7f.0.0.0x1/", "--allow 0x7f.0.0.0x1", "host_blocked"),
        ("https://[::1]/", "--allow [::1]", "host_blocked"),
        ("https://127.0.0.1./", "--allow 127.0.0.1.", "host_blocked"),
        ("https://10.0.0.1:8443/", "--allow 10.0.0.1", "host_blocked"),
        ("https://bad_name/", "--allow bad_name", "invalid_url"),
        ("", "--allow files.example", "invalid_params"),
        ("https://files.example/a", "--allow files.example --colour red", "invalid_params"),
        ("https://files.example/a", "--allow files.example stray x", "invalid_params"),
        ("https://files.example/a", "--allow files.example --timeout", "invalid_params"),
        ("https://files.example/a", "--allow files.example --timeout soon", "invalid_params"),
        ("https://files.example/a", "--allow files.example --max-bytes 1k", "invalid_params"),
        ("https://files.example/a", "--allow files.example --retry -1", "invalid_params"),
        ("https://files.example/moved", "--allow files.example", "redirect"),
        ("https://files.example/none", "--allow files.example", "http_error"),
        ("https://files.example/a", "--allow files.example --max-bytes 5", "size_exceeded"),
        (
            "https://files.example/endless",
            "--allow files.example --max-bytes 50000",
            "size_exceeded",
        ),
        ("https://nowhere.example/", "--allow nowhere.example", "network_error"),
    ],
)
def test_anything_else_is_refused_and_leaves_no_file(
    internet: Sandbox, url: str, options: str, error: str
) -> None:
    ran = download(internet, url, options)
    assert (ran.json["success"], ran.json["error"]["type"]) == (False, error)
    assert (ran.code, [*internet.project.iterdir()]) == (0, [])


def test_a_redirect_says_where_to(internet: Sandbox) -> None:
    ran = download(internet, "https://files.example/moved")
    assert ran.json == {
        "success": False,
        "error": {
            "type": "redirect",
            "message": "Redirects to https://127.0.0.1/",
            "location": "https://127.0.0.1/",
        },
    }


def test_a_download_to_nowhere_is_refused(internet: Sandbox) -> None:
    ran = internet.run("mcp_download_safe --url https://files.example/a --allow files.example")
    assert ran.json["error"] == {"type": "invalid_params", "message": "--out is missing"}


def test_a_body_that_does_not_end_is_cut_off(internet: Sandbox) -> None:
    sent_whole.clear()
    download(internet, "https://files.example/endless", "--allow files.example --max-bytes 50000")
    assert sent_whole == []


PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "192.168.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "169.254.169.254",
]
PRIVATE += ["0.0.0.0", "100.64.0.1", "224.0.0.1", "255.255.255.255", "192.0.0.1", "198.18.0.1"]
PRIVATE += [
    "::1",
    "::",
    "fe80::1",
    "fd00::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_name_with_one_private_address_is_refused(internet: Sandbox, address: str) -> None:
    (internet.project / "addresses").write_text(f"{PUBLIC} STREAM x\n{address} STREAM x\n")
    ran = download(internet, "https://inside.example/", "--allow inside.example")
    assert ran.json["error"]["type"] == "host_blocked"
    assert address in ran.json["error"]["message"]


@pytest.mark.parametrize("address", ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:2800:21f::1"])
def test_public_addresses_pass(sandbox: Sandbox, address: str) -> None:
    script_text = f'. "$MCP_SDK/parts/download.sh"; __mcp_is_public {address}'
    assert sandbox.run(script_text).code == 0


def test_the_failing_form_prints_the_path_or_ends_the_tool(internet: Sandbox) -> None:
    script_text = (
        "mcp_download_safe_or_fail --allow files.example --out got --url https://files.example"
    )
    assert internet.run(f"{script_text}/a").out == "got\n"
    assert internet.run(f"x=$({script_text}/none)").code == 1
    assert json.loads(internet.error_file.read_text()) == {
        "code": -32602,
        "message": "Download failed: HTTP status 404",
    }
