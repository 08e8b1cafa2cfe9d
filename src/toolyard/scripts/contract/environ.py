"""The environment of a script: the MCP_* and MCPBASH_* contract, as tables.

A script's environment is put together from what it keeps of the server's own (`kept`),
what its tool fixes (once per tool), what its exchange folder fixes (once per folder),
what is known about the client (`PER_CLIENT`) and what the call brings. JSON payloads travel
in NAME_JSON, or in the file that NAME_FILE names when they are large. Names and values
are bytes, as the system has them: encoding them for each call would cost more than the
rest of it.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import orjson

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.protocol.call import Call, Channel, Client, Json
from toolyard.protocol.client import ROOTS, SAMPLE
from toolyard.protocol.revisions import Revision
from toolyard.scripts.contract.exchange import VARIABLES as EXCHANGE_VARIABLES
from toolyard.scripts.settings import ProjectPaths, RunnerSettings

Environ: TypeAlias = dict[bytes, bytes]

RUN_ROOT = b"TOOLYARD_RUN_ROOT"
# The system refuses a single string of 128 KiB, whatever the threshold says.
LONGEST_VALUE = 100_000


SECRETS = frozenset({"MCPBASH_REMOTE_TOKEN", "MCP_REGISTRY_TOKEN"})
OUR_PREFIX = "TOOLYARD_"
SECRET_WORDS = ("TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIAL")


def is_secret(name: str, withheld: frozenset[str] = frozenset()) -> bool:
    if name in SECRETS or name in withheld:
        return True
    return name.startswith(OUR_PREFIX) and sounds_secret(name)


def sounds_secret(name: str) -> bool:
    return any(word in name.upper() for word in SECRET_WORDS)


@dataclass(frozen=True, slots=True)
class VariableFilter:
    """Which variables of the server's own environment a script gets to see."""

    names: frozenset[str]
    prefixes: tuple[str, ...]
    everything: bool = False

    def keeps(self, name: str) -> bool:
        """A prefix is no reason to hand on a password; naming it is."""
        if self.everything or name in self.names:
            return True
        return name.startswith(self.prefixes) and not sounds_secret(name)


MINIMAL = VariableFilter(frozenset({"PATH", "HOME", "TMPDIR", "LANG"}), ("MCP_", "MCPBASH_"))
ISOLATED = VariableFilter(  # resource providers
    frozenset({"PATH", "HOME", "TMPDIR", "TMP", "TEMP", "LANG"})
    | {f"MCPBASH_{name}" for name in ("HOME", "PROJECT_ROOT", "RESOURCES_DIR", "PROMPTS_DIR")}
    | {"MCPBASH_ENABLE_GIT_PROVIDER"},
    ("LC_", "MCP_", "MCPBASH_GIT_", "MCPBASH_HTTPS_"),
)


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders that the client works in, as scripts are told about them."""

    json: bytes = b"[]"
    paths: tuple[str, ...] = ()
    lines: bytes = b""

    @classmethod
    def of(cls, items: list[dict[str, str]]) -> Roots:
        """From `[{uri, name, path}]`."""
        paths = tuple(item["path"] for item in items)
        return cls(compact(items), paths, os.fsencode("\n".join(paths)))

    @classmethod
    def at(cls, paths: tuple[str, ...]) -> Roots:
        return cls.of([{"uri": file_uri(p), "name": os.path.basename(p), "path": p} for p in paths])


class RootsInForce:
    """The roots of each call: our own, or those that its client has listed.

    Whoever asks clients writes here, and scripts are told from here.
    """

    __slots__ = ("_by_session", "own")

    def __init__(self, own: Roots) -> None:
        self.own = own
        self._by_session: dict[str, Roots] = {}

    def of(self, channel: Channel) -> Roots:
        session = channel.session
        return self.own if session is None else self._by_session.get(session.key, self.own)

    def is_listed(self, session_key: str) -> bool:
        """Has the client of this session said which roots it has?"""
        return session_key in self._by_session

    def keep(self, session_key: str, roots: Roots) -> None:
        self._by_session[session_key] = roots

    def forget(self, session_key: str) -> None:
        self._by_session.pop(session_key, None)


class Told(NamedTuple):
    """What scripts are told about the client; the same for all of its calls."""

    client: Client
    revision: Revision
    roots: Roots


def supports_elicitation(facts: Told) -> bytes:
    return b"1" if facts.client.modes_in(facts.revision) else b"0"


def supports(method: str) -> Callable[[Told], bytes]:
    return lambda facts: b"1" if facts.client.supports(method) else b"0"


PER_CLIENT: Mapping[bytes, Callable[[Told], bytes]] = {
    b"MCP_PROTOCOL_VERSION": lambda facts: facts.revision.date.encode(),
    b"MCP_ELICIT_SUPPORTED": supports_elicitation,
    b"MCP_SAMPLE_SUPPORTED": supports(SAMPLE),
    b"MCP_ROOTS_SUPPORTED": supports(ROOTS),
    b"MCP_ROOTS_JSON": lambda facts: facts.roots.json,
    b"MCP_ROOTS_PATHS": lambda facts: facts.roots.lines,
    b"MCP_ROOTS_COUNT": lambda facts: b"%d" % len(facts.roots.paths),
    b"MCP_CLIENT_CAPABILITIES_JSON": lambda facts: bounded(facts.client.capabilities),
    b"MCP_CLIENT_INFO_JSON": lambda facts: bounded(facts.client.info),
}
ARGUMENTS, METADATA, META = b"MCP_TOOL_ARGS", b"MCP_TOOL_METADATA", b"MCP_TOOL_META"
# As text, and as JSON: "7" is not 7.
PROGRESS_TOKEN, PROGRESS_TOKEN_JSON = b"MCP_PROGRESS_TOKEN", b"MCP_PROGRESS_TOKEN_JSON"
WORKER_KEY = b"MCPBASH_WORKER_KEY"  # the request's id, as a file name would have it
TASK_ID = b"MCP_TASK_ID"  # of a call that runs as a task
TOOL_NAME, TOOL_PATH = b"MCP_TOOL_NAME", b"MCP_TOOL_PATH"
# A second round of a question asked with `input_required`.
INPUT_RESPONSES, REQUEST_STATE = b"MCP_INPUT_RESPONSES", b"MCP_REQUEST_STATE"

# Set by us or not at all: what the server was itself started with would mislead.
NEVER_KEPT = frozenset(
    {*PER_CLIENT, *EXCHANGE_VARIABLES, RUN_ROOT, TOOL_NAME, TOOL_PATH}
    | {PROGRESS_TOKEN, PROGRESS_TOKEN_JSON, REQUEST_STATE, WORKER_KEY, TASK_ID}
    | {
        name + form
        for name in (ARGUMENTS, METADATA, META, INPUT_RESPONSES)
        for form in (b"_JSON", b"_FILE")
    }
)


def kept(
    environ: Mapping[str, str], policy: VariableFilter, withheld: frozenset[str] = frozenset()
) -> Environ:
    """The server's own variables that pass on to a script; never a secret."""
    return {
        os.fsencode(name): os.fsencode(value)
        for name, value in environ.items()
        if policy.keeps(name)
        and os.fsencode(name) not in NEVER_KEPT
        and not is_secret(name, withheld)
    }


def tool_policy(settings: RunnerSettings) -> VariableFilter:
    if settings.env_mode == "minimal":
        return MINIMAL
    if settings.env_mode == "allowlist":
        return VariableFilter(MINIMAL.names | set(settings.env_allowlist), MINIMAL.prefixes)
    if not settings.env_inherit_allowed:
        raise ProtocolError(
            INVALID_PARAMS,
            "MCPBASH_TOOL_ENV_MODE=inherit needs MCPBASH_TOOL_ENV_INHERIT_ALLOW=true",
        )
    return VariableFilter(frozenset(), (), everything=True)


def project_environ(
    environ: Mapping[str, str],
    settings: RunnerSettings,
    paths: ProjectPaths,
    server_env: Mapping[str, str] | None = None,
) -> Environ:
    """What all scripts of a project share. What its env.sh exports is meant for them."""
    named_variables = VariableFilter(frozenset(server_env or ()), ())
    own = kept(environ, tool_policy(settings), settings.withheld)
    return (
        own
        | kept(server_env or {}, named_variables, settings.withheld)
        | encoded(
            {
                "MCP_SDK": paths.sdk_dir,
                "MCPBASH_PROJECT_ROOT": paths.root,
                "MCPBASH_MODE": "full",
                **paths.variables,
            }
        )
    )


def tool_environ(name: str, path: str) -> Environ:
    """What one tool fixes; its payload files are named only when they exist."""
    return {
        TOOL_NAME: plain(name),
        TOOL_PATH: os.fsencode(path),
        **{payload + b"_FILE": b"" for payload in (ARGUMENTS, METADATA, META)},
    }


def client_environ(facts: Told) -> Environ:
    return {name: value(facts) for name, value in PER_CLIENT.items()}


def call_environ(call: Call) -> Environ:
    # A script reports only where somebody listens, and the state of a task is always shown.
    token = call.meta.get("progressToken", call.task.id if call.task is not None else None)
    environ = {
        PROGRESS_TOKEN: b"" if token is None else plain(token),
        WORKER_KEY: base64.urlsafe_b64encode(compact(call.id)).rstrip(b"="),
    }
    if token is not None:
        environ[PROGRESS_TOKEN_JSON] = compact(token)
    if call.request_state is not None:
        environ[REQUEST_STATE] = plain(call.request_state)
    if call.task is not None:
        environ[TASK_ID] = plain(call.task.id)
    return environ


def file_uri(path: str) -> str:
    from pathlib import Path  # noqa: PLC0415 (a start should not pay for it)

    return Path(path).as_uri()


def encoded(variables: Mapping[str, str]) -> Environ:
    return {os.fsencode(name): os.fsencode(value) for name, value in variables.items()}


def compact(value: Json) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # integers beyond 64 bits, lone surrogates: rare, and still JSON
        import json  # noqa: PLC0415 (rare, and a start should not pay for it)

        return json.dumps(value, separators=(",", ":")).encode()


def bounded(value: Json) -> bytes:
    """What a client says about itself; nothing where that would keep the script from starting."""
    payload = compact(value)
    return payload if len(payload) <= LONGEST_VALUE else b"{}"


def plain(value: object) -> bytes:
    """Text that can be the value of a variable."""
    return str(value).encode("utf-8", "replace").replace(b"\0", b"")
