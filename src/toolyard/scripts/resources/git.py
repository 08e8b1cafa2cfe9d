"""The git provider: `git+https://host/repository#[ref:]path`, fetched shallow, nothing checked out.

No working tree is made, so no link, filter or hook of the repository is ever followed.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.http.fetching.addresses import NotAllowed
from toolyard.http.fetching.dial import GuardedDial
from toolyard.protocol.call import Call, Channel, JsonObject
from toolyard.scripts.contract.environ import encoded
from toolyard.scripts.limits import complaint, run_script
from toolyard.scripts.resources.contents import Body, not_found, unreadable
from toolyard.scripts.resources.providers import provider_environ
from toolyard.scripts.running.deadline import TimeLimit
from toolyard.scripts.running.run import Finished, ScriptSpec
from toolyard.scripts.running.runner import Runner

MOST_SECONDS = 60.0
MOST_KIB = 1024 * 1024
_LOOK_EVERY = 0.25
_REF_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-")
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ALLOW_PROTOCOL": "https",
    "GIT_ASKPASS": "",
    "GIT_LFS_SKIP_SMUDGE": "1",
}


@dataclass(frozen=True, slots=True)
class GitLimits:
    """How long a fetch may take, and how much it may bring."""

    seconds: float = 30.0
    max_kib: int = 51200
    max_bytes: int = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class GitPlace:
    """What a git URI names."""

    url: str
    host: str
    port: int
    ref: str
    path: str


@dataclass(frozen=True, slots=True)
class GitProvider:
    """Reads files of repositories. `ca_file`: certificates to trust in place of the system's."""

    runner: Runner
    dial: GuardedDial
    limits: GitLimits
    ca_file: str = ""

    async def read(self, arguments: JsonObject, call: Call | None, channel: Channel | None) -> Body:
        uri = arguments["uri"]
        place = parse_git_uri(uri)
        program = shutil.which("git")
        if program is None:
            raise unreadable(uri, "git is not installed")
        try:
            host = self.dial.host(place.host)
            addresses = await self.dial.addresses(host, place.port)
        except NotAllowed as refusal:
            raise unreadable(uri, str(refusal)) from None
        folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="toolyard-git-")
        try:
            checkout = _Fetched(self, os.path.realpath(program), folder, place, uri)
            return await checkout.read(addresses[0])
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def paths(self, arguments: JsonObject) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class _Fetched:
    """One fetch into a folder of its own."""

    provider: GitProvider
    program: str
    folder: str
    place: GitPlace
    uri: str

    async def read(self, address: str) -> Body:
        place = self.place
        await self._must("init", "--quiet", "--bare", self.folder)
        literal = f"[{address}]" if ":" in address else address
        pin = f"http.curloptResolve={place.host}:{place.port}:{literal}"
        fetch = asyncio.ensure_future(
            self._must(
                *("-c", pin, "-c", "http.followRedirects=false", "-c", "http.proxy="),
                *("-c", "credential.helper=", "-c", "core.hooksPath=/dev/null"),
                *("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"),
                *("--", place.url, place.ref),
            )
        )
        try:
            await self._bounded(fetch)
        finally:
            fetch.cancel()
            await asyncio.gather(fetch, return_exceptions=True)
        return Body(await self._blob())

    async def _bounded(self, fetch: asyncio.Future[Finished]) -> None:
        """Wait for the fetch, and end it when the folder outgrows its limit."""
        limit = min(self.provider.limits.max_kib, MOST_KIB) * 1024
        while True:
            finished_fetch, _ = await asyncio.wait((fetch,), timeout=_LOOK_EVERY)
            if await asyncio.to_thread(_size_of, self.folder) > limit:
                raise unreadable(self.uri, f"the repository exceeds {limit // 1024} KiB")
            if finished_fetch:
                fetch.result()
                return

    async def _blob(self) -> bytes:
        tree = await self._must("ls-tree", "-l", "FETCH_HEAD", "--", self.place.path)
        about = tree.stdout.split(None, 4)
        if len(about) < 4:
            raise not_found(self.uri)
        mode, kind, _, size = about[:4]
        if kind != b"blob" or mode == b"120000":
            raise unreadable(self.uri, "Resource is not a plain file")
        if int(size) > self.provider.limits.max_bytes:
            raise unreadable(self.uri, f"Resource exceeds {self.provider.limits.max_bytes} bytes")
        blob = await self._must("cat-file", "blob", f"FETCH_HEAD:{self.place.path}")
        return blob.stdout

    async def _must(self, *arguments: str) -> Finished:
        trust = {"GIT_SSL_CAINFO": self.provider.ca_file} if self.provider.ca_file else {}
        spec = ScriptSpec(
            path=self.program,
            argv=arguments,
            environ={
                **provider_environ("git", self.provider.runner.settings),
                **encoded({**_QUIET, **trust, "GIT_DIR": self.folder}),
            },
            cwd=self.folder,
            timeout=TimeLimit(min(self.provider.limits.seconds, MOST_SECONDS)),
            max_output=self.provider.limits.max_bytes,
        )
        outcome = await run_script(self.provider.runner, spec, None, None, "git")
        if outcome.exit_code:
            raise unreadable(self.uri, complaint(outcome, "git failed"))
        return outcome


def parse_git_uri(uri: str) -> GitPlace:
    def refuse(why: str) -> ProtocolError:
        return ProtocolError(INVALID_PARAMS, why, {"uri": uri})

    if not uri.startswith("git+https://"):
        raise refuse("Not a git+https URI")
    try:
        parts = urlsplit(uri.removeprefix("git+"))
        port = parts.port or 443
    except ValueError:
        raise refuse("Not a git+https URI") from None
    ref, colon, path = parts.fragment.partition(":")
    ref, path = (unquote(ref), unquote(path)) if colon else ("HEAD", unquote(ref))
    if not parts.hostname or "@" in parts.netloc or parts.query or not parts.path.strip("/"):
        raise refuse("Not a plain git+https URI")
    if not ref or not set(ref) <= _REF_CHARACTERS or ref[0] in "-." or ".." in ref:
        raise refuse("Not a git reference")
    if not is_inner_path(path):
        raise refuse("Not a path inside a repository")
    return GitPlace(f"https://{parts.netloc}{parts.path}", parts.hostname, port, ref, path)


def is_inner_path(path: str) -> bool:
    steps = path.split("/")
    return bool(path) and "\0" not in path and not any(step in ("", ".", "..") for step in steps)


def _size_of(folder: str) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue  # a temporary file that is gone again
    return total
