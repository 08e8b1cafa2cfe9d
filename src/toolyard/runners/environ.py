"""The environment of a script: the MCP_* and MCPBASH_* contract, as tables.

A script's environment is laid together from what it keeps of the server's own (`kept`),
what its tool fixes (once per tool), what its exchange folder fixes (once per folder)
and what the call brings (`PER_CALL`). JSON payloads travel in NAME_JSON, or in the file
that NAME_FILE names when they are large.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import orjson

from toolyard.errors import INVALID_PARAMS, ProtocolError
from toolyard.protocol.call import Call, Json, elicitation_modes
from toolyard.runners.exchange import VARIABLES as EXCHANGE_VARIABLES
from toolyard.runners.settings import ProjectPaths, RunnerSettings

RUN_ROOT = "TOOLYARD_RUN_ROOT"
# The system refuses a single string of 128 KiB, whatever the threshold says.
LONGEST_VALUE = 100_000


@dataclass(frozen=True, slots=True)
class Kept:
    """Which variables of the server's own environment a script gets to see."""

    names: frozenset[str]
    prefixes: tuple[str, ...]
    everything: bool = False

    def keeps(self, name: str) -> bool:
        return self.everything or name in self.names or name.startswith(self.prefixes)


MINIMAL = Kept(frozenset({"PATH", "HOME", "TMPDIR", "LANG"}), ("MCP_", "MCPBASH_"))
ISOLATED = Kept(  # resource providers
    frozenset({"PATH", "HOME", "TMPDIR", "TMP", "TEMP", "LANG"})
    | {f"MCPBASH_{name}" for name in ("HOME", "PROJECT_ROOT", "RESOURCES_DIR", "PROMPTS_DIR")}
    | {"MCPBASH_ENABLE_GIT_PROVIDER"},
    ("LC_", "MCP_", "MCPBASH_GIT_", "MCPBASH_HTTPS_"),
)

SECRETS = frozenset({"MCPBASH_REMOTE_TOKEN", "MCP_REGISTRY_TOKEN"})
OUR_PREFIX = "TOOLYARD_"
SECRET_WORDS = ("TOKEN", "SECRET", "PASSWORD", "KEY", "CREDENTIAL")


def is_secret(name: str, withheld: frozenset[str] = frozenset()) -> bool:
    if name in SECRETS or name in withheld:
        return True
    return name.startswith(OUR_PREFIX) and any(word in name for word in SECRET_WORDS)


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders that the client works in, as its scripts are told of them."""

    json: str = "[]"
    paths: tuple[str, ...] = ()

    @classmethod
    def of(cls, items: list[dict[str, str]]) -> Roots:
        """From `[{uri, name, path}]`."""
        return cls(compact(items), tuple(item["path"] for item in items))


@dataclass(frozen=True, slots=True)
class Told:
    """What a call brings that scripts are told in plain variables."""

    call: Call
    roots: Roots


def progress_token(told: Told) -> str:
    token = told.call.meta.get("progressToken", "")
    return plain(token) if isinstance(token, str | int | float) else ""


def supports_elicitation(told: Told) -> str:
    modes = elicitation_modes(told.call.client.capabilities)
    return "1" if modes & told.call.revision.elicitation else "0"


def supports(method: str) -> Callable[[Told], str]:
    return lambda told: "1" if told.call.client.supports(method) else "0"


PER_CALL: Mapping[str, Callable[[Told], str]] = {
    "MCP_PROTOCOL_VERSION": lambda told: told.call.revision.date,
    "MCP_PROGRESS_TOKEN": progress_token,
    "MCP_ELICIT_SUPPORTED": supports_elicitation,
    "MCP_SAMPLE_SUPPORTED": supports("sampling/createMessage"),
    "MCP_ROOTS_SUPPORTED": supports("roots/list"),
    "MCP_ROOTS_JSON": lambda told: told.roots.json,
    "MCP_ROOTS_PATHS": lambda told: "\n".join(told.roots.paths),
    "MCP_ROOTS_COUNT": lambda told: str(len(told.roots.paths)),
}
CLIENT_PAYLOADS: Mapping[str, Callable[[Call], Json]] = {
    "MCP_CLIENT_CAPABILITIES": lambda call: call.client.capabilities,
    "MCP_CLIENT_INFO": lambda call: call.client.info,
}
TOOL_PAYLOADS = ("MCP_TOOL_ARGS", "MCP_TOOL_METADATA", "MCP_TOOL_META")
# A second round of a question asked with `input_required`.
INPUT_RESPONSES, REQUEST_STATE = "MCP_INPUT_RESPONSES", "MCP_REQUEST_STATE"

# Set by us or not at all: what the server was itself started with would mislead.
NEVER_KEPT = frozenset(
    {*PER_CALL, *EXCHANGE_VARIABLES, REQUEST_STATE, RUN_ROOT, "MCP_TOOL_NAME", "MCP_TOOL_PATH"}
    | {
        f"{name}_{form}"
        for name in (*TOOL_PAYLOADS, *CLIENT_PAYLOADS, INPUT_RESPONSES)
        for form in ("JSON", "FILE")
    }
)


def kept(
    environ: Mapping[str, str], policy: Kept, withheld: frozenset[str] = frozenset()
) -> dict[str, str]:
    """The server's own variables that pass on to a script; never a secret."""
    return {
        name: value
        for name, value in environ.items()
        if policy.keeps(name) and name not in NEVER_KEPT and not is_secret(name, withheld)
    }


def tool_policy(settings: RunnerSettings) -> Kept:
    if settings.env_mode == "minimal":
        return MINIMAL
    if settings.env_mode == "allowlist":
        return Kept(MINIMAL.names | set(settings.env_allowlist), MINIMAL.prefixes)
    if not settings.env_inherit_allowed:
        raise ProtocolError(
            INVALID_PARAMS,
            "MCPBASH_TOOL_ENV_MODE=inherit needs MCPBASH_TOOL_ENV_INHERIT_ALLOW=true",
        )
    return Kept(frozenset(), (), everything=True)


def project_environ(
    environ: Mapping[str, str], settings: RunnerSettings, paths: ProjectPaths
) -> dict[str, str]:
    """What all scripts of a project share."""
    return {
        **kept(environ, tool_policy(settings), settings.withheld),
        "MCP_SDK": paths.sdk_dir,
        "MCPBASH_PROJECT_ROOT": paths.root,
        "MCPBASH_MODE": "full",
        **paths.exported,
    }


def tool_environ(name: str, path: str) -> dict[str, str]:
    """What one tool fixes; its payload files are named only when they exist."""
    return {
        "MCP_TOOL_NAME": plain(name),
        "MCP_TOOL_PATH": path,
        **{f"{payload}_FILE": "" for payload in TOOL_PAYLOADS},
    }


def call_environ(call: Call, roots: Roots) -> dict[str, str]:
    told = Told(call, roots)
    environ = {name: value(told) for name, value in PER_CALL.items()}
    if call.request_state is not None:
        environ[REQUEST_STATE] = plain(call.request_state)
    return environ


def call_payloads(call: Call) -> dict[str, str]:
    payloads = {name: compact(value(call)) for name, value in CLIENT_PAYLOADS.items()}
    if call.input_responses is not None:
        payloads[INPUT_RESPONSES] = compact(call.input_responses)
    return payloads


def fits(payload: str, threshold: int) -> bool:
    """May this travel in a variable?"""
    return len(payload) < LONGEST_VALUE and len(payload.encode()) <= min(threshold, LONGEST_VALUE)


def compact(value: Json) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # integers beyond 64 bits, lone surrogates: rare, and still JSON
        return json.dumps(value, separators=(",", ":"))


def plain(value: object) -> str:
    """Text that can be the value of a variable."""
    return str(value).replace("\0", "").encode("utf-8", "replace").decode()
