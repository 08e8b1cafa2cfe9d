"""The git provider: one file of a repository, fetched from a checked address."""

import http.server
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.project.conftest import Folder, refused, source_of
from tests.project.secure import HOST, Certificate, https_server, make_certificate
from toolyard.errors import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND, ProtocolError
from toolyard.http.fetching.addresses import HostRules
from toolyard.http.fetching.dial import GuardedDial
from toolyard.scripts.resources.git import GitLimits, GitProvider, parse_git_uri
from toolyard.scripts.running.runner import Runner

IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@e.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@e.org",
}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**os.environ, **IDENTITY},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("git") / "repo"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "docs").mkdir()
    (folder / "docs/a b.md").write_text("old\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "one")
    git(folder, "tag", "v1")
    (folder / "docs/a b.md").write_text("new\n")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "large").write_bytes(os.urandom(300_000))
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "two")
    return folder


@pytest.fixture
def port(repository: Path, certificate: Certificate) -> Iterator[int]:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        size = int(request.headers.get("Content-Length") or 0)
        done = subprocess.run(
            ["git", "http-backend"],
            input=request.rfile.read(size),
            env={
                **os.environ,
                "GIT_PROJECT_ROOT": str(repository.parent),
                "GIT_HTTP_EXPORT_ALL": "1",
                "PATH_INFO": parts.path,
                "QUERY_STRING": parts.query,
                "REQUEST_METHOD": request.command,
                "CONTENT_TYPE": request.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(size),
                "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
                "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            },
            capture_output=True,
            check=True,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        request.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    with https_server(certificate, answer) as port:
        yield port


async def loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


def provider(runner: Runner, certificate: Certificate, limits: GitLimits) -> GitProvider:
    """As in production, but for loopback: it stands for a public address here."""
    rules = HostRules(allow=(HOST,))
    dial = GuardedDial(rules, loopback=True, resolve=loopback)
    return GitProvider(runner, dial, limits, str(certificate.cert))


async def read(
    runner: Runner, certificate: Certificate, uri: str, limits: GitLimits | None = None
) -> bytes:
    reader = provider(runner, certificate, limits or GitLimits())
    return (await reader.read({"uri": uri}, None, None)).data


async def test_a_file_is_read_at_the_head_or_at_a_reference(
    runner: Runner, certificate: Certificate, port: int
) -> None:
    base = f"git+https://{HOST}:{port}/repo"
    assert await read(runner, certificate, f"{base}#docs/a%20b.md") == b"new\n"
    assert await read(runner, certificate, f"{base}#v1:docs/a%20b.md") == b"old\n"
    assert await read(runner, certificate, f"{base}#main:docs/a%20b.md") == b"new\n"


async def test_links_missing_files_and_large_files_are_refused(
    runner: Runner, certificate: Certificate, port: int, tmp_path: Path
) -> None:
    base = f"git+https://{HOST}:{port}/repo"

    async def error(path: str, limits: GitLimits | None = None) -> ProtocolError:
        with pytest.raises(ProtocolError) as caught:
            await read(runner, certificate, f"{base}#{path}", limits)
        return caught.value

    assert (await error("link")).message == "Resource is not a plain file"
    assert (await error("docs")).message == "Resource is not a plain file"
    assert (await error("none")).code == RESOURCE_NOT_FOUND
    assert (
        await error("large", GitLimits(max_bytes=1000))
    ).message == "Resource exceeds 1000 bytes"
    small = await error("docs/a%20b.md", GitLimits(max_kib=100))
    assert small.message == "the repository exceeds 100 KiB"
    assert (await error("nosuchref:large")).code == INTERNAL_ERROR


async def test_nothing_is_left_behind(
    runner: Runner,
    certificate: Certificate,
    port: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    await read(runner, certificate, f"git+https://{HOST}:{port}/repo#docs/a%20b.md")
    assert list(tmp_path.glob("toolyard-git-*")) == []


@pytest.mark.parametrize(
    "uri",
    [
        *("git://h/r#a", "git+ssh://h/r#a", "git+file:///r#a", "git+https://h#a", "git+https://h/r"),
        *("git+https://u@h/r#a", "git+https://h/r?x#a", "git+https://h/r#--upload-pack=x:a"),
        *("git+https://h/r#a..b:c", "git+https://h/r#main:../x", "git+https://h/r#main:/x"),
        *("git+https://h/r#main:a%00", "git+https://h:x/r#a", "git+https://h/r#:a"),
    ],
)  # fmt: skip
def test_what_is_no_git_uri_is_refused(uri: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        parse_git_uri(uri)
    assert caught.value.code == INVALID_PARAMS


async def test_the_provider_is_off_by_default_and_never_reaches_loopback(
    folder: Folder, runner: Runner, port: int
) -> None:
    uri = f"git+https://localhost:{port}/repo#docs/a%20b.md"
    folder.write("resources/g.meta.json", {"name": "g", "uri": uri})
    (off,) = source_of(folder, runner).read().resources
    assert "MCPBASH_ENABLE_GIT_PROVIDER" in (await refused(off.target, {"uri": uri})).message
    on = source_of(folder, runner, enable_git_provider=True, git_allow_all=True).read()
    assert "not public" in (await refused(on.resources[0].target, {"uri": uri})).message
