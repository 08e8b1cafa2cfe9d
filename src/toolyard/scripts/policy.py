"""server.d/policy.sh: a script that decides which tools may be called.

It is loaded once, into a bash of its own that is kept; a check costs it one fork, and
checks do not wait for each other. Whatever goes wrong with it, the answer is no.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from typing import NamedTuple

import orjson

from toolyard import telemetry
from toolyard.errors import INTERNAL_ERROR, INVALID_PARAMS, ProtocolError
from toolyard.files.stamp import Stamp, stamp_of
from toolyard.protocol.call import Json, JsonObject
from toolyard.scripts.contract.environ import RUN_ROOT, Environ, VariableFilter, compact, kept
from toolyard.scripts.policy_shell import LoadedPolicy, PolicyFailed, Verdict
from toolyard.scripts.running.runner import Runner

log = telemetry.logger("policy")
EVERYTHING = VariableFilter(frozenset(), (), everything=True)
MOST_AT_ONCE = 16
LONGEST_METADATA = 65536


class PolicyScript:
    """One project's policy. Made where there is a file; once seen, it must stay."""

    def __init__(
        self, path: str, why_unsafe: Callable[[], str | None], runner: Runner, timeout: float
    ) -> None:
        self._path = path
        self._why_unsafe = why_unsafe
        self._runner = runner
        self._timeout = timeout
        self._loaded: _LoadedFile | None = None
        self._retired: set[LoadedPolicy] = set()
        self._places = asyncio.Semaphore(MOST_AT_ONCE)

    async def permits(self, name: str, metadata: JsonObject) -> bool:
        """Whether the script decided, rather than leave it to the allowlist.

        Raises ProtocolError where the call is denied, by the script or for its faults.
        """
        try:
            async with self._places:
                verdict = await self._verdict(name, metadata)
        except PolicyFailed as failure:
            log.error("%s", failure)
            text = f"Tool '{name}' blocked: {failure}"
            raise ProtocolError(INTERNAL_ERROR, text) from None
        if verdict.status:
            raise _denial(name, verdict)
        return verdict.decided

    async def close(self) -> None:
        loaded = {self._loaded.policy} if self._loaded is not None else set()
        for policy in loaded | self._retired:
            await policy.end()
        self._loaded = None

    async def _verdict(self, name: str, metadata: JsonObject) -> Verdict:
        unsafe = self._why_unsafe()
        if unsafe is not None:
            raise PolicyFailed(unsafe)
        asked, policy = _short(metadata), self._current()
        try:
            return await policy.ask(name, asked, self._timeout)
        except PolicyFailed:
            if policy.alive or not policy.proven:
                raise
        # It used to work and was killed before it could answer: its successor is asked.
        return await self._current().ask(name, asked, self._timeout)

    def _current(self) -> LoadedPolicy:
        """The policy as the file has it now; loaded anew when that changed or it died."""
        stamp = _stamp(self._path)
        loaded = self._loaded
        if loaded is not None and loaded.stamp == stamp and loaded.policy.alive:
            return loaded.policy
        if loaded is not None:
            self._retire(loaded.policy)
        policy = LoadedPolicy(self._path, self._bash(), self._environ(), self._runner)
        self._loaded = _LoadedFile(stamp, policy)
        return policy

    def _retire(self, policy: LoadedPolicy) -> None:
        """Checks under way still get their answers from it."""
        self._loaded = None
        self._retired.add(policy)
        policy.ask_no_more(lambda: self._retired.discard(policy))

    def _bash(self) -> str:
        bash = shutil.which("bash")
        if bash is None:
            raise PolicyFailed(f"{self._path}: needs bash, which is not installed")
        return bash

    def _environ(self) -> Environ:
        """All of ours but the secrets: policies are steered by variables of any name."""
        runner = self._runner
        own = kept(os.environ, EVERYTHING, runner.settings.withheld)
        return {**own, **runner.environ, RUN_ROOT: runner.open().mark}


class _LoadedFile(NamedTuple):
    stamp: Stamp
    policy: LoadedPolicy


def _stamp(path: str) -> Stamp:
    try:
        return stamp_of(os.stat(path))
    except OSError as error:
        raise PolicyFailed(f"{path}: {error.strerror}") from None


def _short(metadata: JsonObject) -> bytes:
    """Icons can be larger than all the rest, and decide nothing."""
    whole = compact(metadata)
    if len(whole) <= LONGEST_METADATA:
        return whole
    return compact({key: value for key, value in metadata.items() if key != "icons"})


def _denial(name: str, verdict: Verdict) -> ProtocolError:
    message = verdict.message or f"Tool '{name}' blocked by policy"
    return ProtocolError(verdict.code or INVALID_PARAMS, message, _data(verdict.data))


def _data(text: str) -> Json:
    if not text:
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
