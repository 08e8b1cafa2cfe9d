"""The settings of running scripts, as plain frozen values. Reads no environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

EnvMode: TypeAlias = Literal["minimal", "allowlist", "inherit"]
ProviderEnvMode: TypeAlias = Literal["isolate", "allowlist", "inherit"]
MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RunnerSettings:
    """Limits and habits, each with the variable that sets it."""

    max_concurrent: int = 16  # MCPBASH_MAX_CONCURRENT_REQUESTS
    max_asking: int = 64  # MCPBASH_MAX_ASKING_SCRIPTS
    default_timeout: float = 30.0  # MCPBASH_DEFAULT_TOOL_TIMEOUT
    max_timeout: float = 600.0  # MCPBASH_MAX_TIMEOUT_SECS
    max_tasks: int = 256  # MCPBASH_MAX_RUNNING_TASKS
    task_timeout: float = 3600.0  # MCPBASH_TASK_TIMEOUT
    progress_extends_timeout: bool = False  # MCPBASH_PROGRESS_EXTENDS_TIMEOUT
    max_output: int = 10 * MEBIBYTE  # MCPBASH_MAX_TOOL_OUTPUT_SIZE
    stderr_capture: bool = True  # MCPBASH_TOOL_STDERR_CAPTURE
    stderr_tail: int = 4096  # MCPBASH_TOOL_STDERR_TAIL_LIMIT
    stderr_copy: bool = False  # MCPBASH_TOOL_STREAM_STDERR
    max_resource_bytes: int = 10 * MEBIBYTE  # MCPBASH_MAX_RESOURCE_BYTES
    max_progress_per_minute: int = 100  # MCPBASH_MAX_PROGRESS_PER_MIN
    max_logs_per_minute: int = 100  # MCPBASH_MAX_LOGS_PER_MIN
    payload_threshold: int = 65536  # MCPBASH_ENV_PAYLOAD_THRESHOLD; 0: always by file
    env_mode: EnvMode = "minimal"  # MCPBASH_TOOL_ENV_MODE
    env_allowlist: tuple[str, ...] = ()  # MCPBASH_TOOL_ENV_ALLOWLIST
    env_inherit_allowed: bool = False  # MCPBASH_TOOL_ENV_INHERIT_ALLOW
    provider_env_mode: ProviderEnvMode = "isolate"  # MCPBASH_PROVIDER_ENV_MODE
    provider_env_allowlist: tuple[str, ...] = ()  # MCPBASH_PROVIDER_ENV_ALLOWLIST
    provider_env_inherit_allowed: bool = False  # MCPBASH_PROVIDER_ENV_INHERIT_ALLOW
    # A tool's text is its output to the last newline, as users of mcp-bash know it; and the
    # texts of resources and prompts end without any.
    keep_output: bool = False
    trim_texts: bool = False
    # MCPBASH_ELICITATION_TIMEOUT; None: half a minute on a session, ten when parked.
    question_timeout: float | None = None
    tmp_root: str | None = None  # MCPBASH_TMP_ROOT, else the system's choice
    kill_grace: float = 1.0  # from TERM to KILL
    # Names beyond the fixed ones that no child may ever see (tokens the operator named).
    withheld: frozenset[str] = frozenset()


class ServerEnv(NamedTuple):
    """What server.d/env.sh exports."""

    variables: Mapping[str, str] = {}
    # Why no script may run: what it would rely on is not there.
    problem: str | None = None


NO_SERVER_ENV = ServerEnv()


@dataclass(frozen=True, slots=True)
class ProjectPaths:
    """Where a project's scripts live and what they may touch. Real paths, resolved once."""

    root: str
    tools_dir: str
    sdk_dir: str = ""
    # Files that a tool may embed in its result lie below one of these, or of the roots.
    allowed_roots: tuple[str, ...] = ()
    # What every script is told about its server: MCPBASH_HOME, MCPBASH_SERVER_NAME,
    # MCPBASH_JSON_TOOL and their like, by name.
    variables: Mapping[str, str] = field(default_factory=dict)
