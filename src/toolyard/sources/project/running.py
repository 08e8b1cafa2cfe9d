"""How the scripts of a project are run: what the settings say, and what every script is told."""

from __future__ import annotations

import os
import shutil
from typing import cast

import toolyard
from toolyard import telemetry
from toolyard.protocol.identity import Identity
from toolyard.scripts.settings import EnvMode, ProjectPaths, ProviderEnvMode, RunnerSettings
from toolyard.settings import Settings, secret_variables
from toolyard.sources.project.layout import Project
from toolyard.sources.project.roots import ConfiguredRoots

log = telemetry.logger("project")
HOME = os.path.dirname(toolyard.__file__)
SDK = os.path.join(HOME, "sdk")


def runner_settings(settings: Settings, *, like_mcp_bash: bool = False) -> RunnerSettings:
    return RunnerSettings(
        max_concurrent=settings.max_concurrent_requests,
        max_asking=settings.max_asking_scripts,
        default_timeout=settings.default_tool_timeout,
        max_timeout=settings.max_timeout_secs,
        max_tasks=settings.max_running_tasks,
        task_timeout=settings.task_timeout,
        progress_extends_timeout=settings.progress_extends_timeout,
        max_output=settings.max_tool_output_size,
        stderr_capture=settings.tool_stderr_capture,
        stderr_tail=settings.tool_stderr_tail_limit,
        stderr_copy=settings.tool_stream_stderr,
        max_resource_bytes=settings.max_resource_bytes,
        max_progress_per_minute=settings.max_progress_per_min,
        max_logs_per_minute=settings.max_logs_per_min,
        payload_threshold=settings.env_payload_threshold,
        env_mode=cast(EnvMode, settings.tool_env_mode),
        env_allowlist=settings.tool_env_allowlist,
        env_inherit_allowed=settings.tool_env_inherit_allow,
        keep_output=like_mcp_bash,
        trim_texts=like_mcp_bash,
        question_timeout=question_timeout(settings),
        provider_env_mode=cast(ProviderEnvMode, settings.provider_env_mode),
        provider_env_allowlist=settings.provider_env_allowlist,
        provider_env_inherit_allowed=settings.provider_env_inherit_allow,
        tmp_root=settings.tmp_root or None,
        withheld=secret_variables(),
    )


def question_timeout(settings: Settings) -> float | None:
    """Unless the operator sets it, a parked call may wait longer than one on a session."""
    seconds = settings.elicitation_timeout
    return None if seconds == Settings.elicitation_timeout.default else seconds


def project_paths(
    project: Project,
    settings: Settings,
    identity: Identity,
    default_roots: ConfiguredRoots,
    version: str = toolyard.__version__,
) -> ProjectPaths:
    # Beside the roots: the project's own files, or what the file provider may read.
    folders = settings.resources_roots or (project.resources,)
    own = folders if default_roots.named else (project.root,)
    return ProjectPaths(
        root=os.path.realpath(project.root),
        tools_dir=os.path.realpath(project.tools),
        sdk_dir=SDK,
        allowed_roots=tuple(map(os.path.realpath, own)),
        variables=exported(project, settings, identity, version),
    )


def exported(
    project: Project, settings: Settings, identity: Identity, version: str
) -> dict[str, str]:
    """What every script is told of its server."""
    info = identity.info
    tool, binary = json_tool(settings)
    if settings.log_json_tool == "log":
        log.info("scripts use %s for JSON", binary)
    return {
        **for_debugging(settings),
        "MCPBASH_PROJECT_ROOT": project.root,
        "MCPBASH_HOME": HOME,
        "MCPBASH_FRAMEWORK_VERSION": version,
        "MCPBASH_MODE": "full",
        "MCPBASH_JSON_TOOL": tool,
        "MCPBASH_JSON_TOOL_BIN": binary,
        "MCPBASH_SERVER_NAME": str(info.get("name", "")),
        "MCPBASH_SERVER_TITLE": str(info.get("title", "")),
        "MCPBASH_SERVER_VERSION": str(info.get("version", "")),
        "MCPBASH_MAX_TEXT_BYTES": str(settings.max_text_bytes),
    }


def for_debugging(settings: Settings) -> dict[str, str]:
    variables = {"MCPBASH_DEBUG_LOG": settings.debug_log} if settings.debug_log else {}
    if not (settings.trace_tools and settings.log_dir):
        return variables
    trace = {"BASH_ENV": os.path.join(SDK, "trace.sh"), "MCPBASH_TRACE_DIR": settings.log_dir}
    return {**variables, **trace, "MCPBASH_TRACE_PS4": settings.trace_ps4}


def json_tool(settings: Settings) -> tuple[str, str]:
    """jq or gojq where there is one, else our own stand-in for the filters scripts use."""
    overridable = os.geteuid() != 0 or settings.allow_json_tool_override_for_root
    if settings.json_tool_bin and overridable:
        return settings.json_tool or "jq", settings.json_tool_bin
    for name in ("jq", "gojq"):
        path = shutil.which(name)
        if path:
            return name, path
    return "jq", os.path.join(SDK, "json-tool")
