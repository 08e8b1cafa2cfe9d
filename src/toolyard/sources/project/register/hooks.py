"""server.d/register.sh: a script that registers by calling shell functions, or by printing JSON.

Runs in a bash of its own, never in ours; only where the operator allows it and nobody else
may write it.
"""

from __future__ import annotations

import os
import shutil
import tempfile

import orjson

from toolyard.configuration.check import Findings
from toolyard.files.safety import why_unsafe
from toolyard.processes.shell import TookTooLong, run_to_end
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import SPELLED
from toolyard.settings import Settings, secret_variables
from toolyard.sources.project.layout import Project
from toolyard.sources.project.register.file import (
    LISTS,
    Registration,
    RegistrationError,
    checked_lists,
    script_path,
)

_TEMPLATES = SPELLED["templates"].key
# The file that a call writes to is named by its environment; one line a call: list, JSON.
_FUNCTIONS = {
    "mcp_register_tool": "tools",
    "mcp_register_resource": "resources",
    "mcp_register_resource_template": _TEMPLATES,
    "mcp_register_prompt": "prompts",
    "mcp_register_completion": "completions",
    "mcp_tools_register_manual": "tools",
    "mcp_resources_register_manual": "resources",
    "mcp_resources_templates_register_manual": _TEMPLATES,
    "mcp_prompts_register_manual": "prompts",
    "mcp_completion_register_manual": "completions",
}
_TAKE_OVER = {
    "mcp_tools_manual": "tools",
    "mcp_resources_manual": "resources",
    "mcp_resources_templates_manual": _TEMPLATES,
    "mcp_prompts_manual": "prompts",
    "mcp_completion_manual": "completions",
}
_WRITE = '{ printf "%s\\0%s\\0" "$1" "$2" >>"$TOOLYARD_REGISTERED"; }'
_PRELUDE = "\n".join(
    (
        f"__toolyard_registered() {_WRITE}",
        *(
            f'{name}() {{ __toolyard_registered {kind} "$1"; }}'
            for name, kind in _FUNCTIONS.items()
        ),
        *(
            f"{name}_begin() {{ __toolyard_registered {kind} ''; }}\n{name}_finalize() {{ :; }}"
            for name, kind in _TAKE_OVER.items()
        ),
        "mcp_logging_debug() { :; }; mcp_logging_info() { :; }",
        'mcp_logging_warning() { printf "%s\\n" "$*" >&2; }',
        'mcp_logging_error() { printf "%s\\n" "$*" >&2; }',
        'source "$1"',
    )
)
_STDERR_SHOWN = 500


def registered_by_script(project: Project, settings: Settings) -> Registration:
    path = script_path(project)
    unsafe = why_unsafe(path, project.server, project.root)
    if unsafe is not None:
        raise RegistrationError(unsafe)
    with tempfile.TemporaryDirectory(prefix="toolyard-register-") as folder:
        calls_file = os.path.join(folder, "registered")
        output = _run(project, settings, path, calls_file)
        return _registration(project, settings, path, output, calls_file)


def _run(project: Project, settings: Settings, path: str, calls_file: str) -> bytes:
    bash = shutil.which("bash")
    if bash is None:
        raise RegistrationError(f"{path}: bash is not installed")
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            code, _ = run_to_end(
                [bash, "-c", _PRELUDE, "register.sh", path],
                timeout=settings.default_tool_timeout,
                env=_environ(project, calls_file),
                cwd=project.root,
                stdout=output,
                stderr=errors,
            )
        except TookTooLong:
            raise RegistrationError(
                f"{path}: took longer than {settings.default_tool_timeout:g}s"
            ) from None
        if code:
            errors.seek(0)
            stderr_text = errors.read(_STDERR_SHOWN).decode("utf-8", "replace").strip()
            raise RegistrationError(f"{path}: failed with exit code {code}: {stderr_text}")
        output.seek(0)
        return output.read(settings.manual_buffer_max_bytes + 1)


def _environ(project: Project, calls_file: str) -> dict[str, str]:
    secrets = secret_variables()
    variables = {name: value for name, value in os.environ.items() if name not in secrets}
    return {
        **variables,
        "TOOLYARD_REGISTERED": calls_file,
        "MCPBASH_PROJECT_ROOT": project.root,
        "MCPBASH_TOOLS_DIR": project.tools,
        "MCPBASH_RESOURCES_DIR": project.resources,
        "MCPBASH_PROMPTS_DIR": project.prompts,
        "MCPBASH_SERVER_DIR": project.server,
        "MCPBASH_REGISTRY_DIR": project.registry,
    }


def _registration(
    project: Project, settings: Settings, path: str, output: bytes, calls_file: str
) -> Registration:
    calls = b""
    if os.path.exists(calls_file):
        with open(calls_file, "rb") as stream:
            calls = stream.read(settings.manual_buffer_max_bytes + 1)
    if max(len(calls), len(output)) > settings.manual_buffer_max_bytes:
        raise RegistrationError(
            f"{path}: registers more than {settings.manual_buffer_max_bytes} bytes"
        )
    lists = {**_printed_lists(output, path), **_called_lists(calls, path)}
    said = Findings(path, b"")  # what a script says has no line in its file
    return Registration(path, checked_lists({"version": 1, **lists}, said, project))


def _called_lists(calls: bytes, path: str) -> dict[str, list[JsonObject]]:
    lists: dict[str, list[JsonObject]] = {}
    parts = calls.split(b"\0")
    for kind, text in zip(parts[::2], parts[1::2], strict=False):
        entries = lists.setdefault(kind.decode(), [])
        if not text:
            continue
        try:
            entries.append(orjson.loads(text))
        except orjson.JSONDecodeError as error:
            raise RegistrationError(f"{path}: registers what is not JSON: {error}") from None
    return lists


def _printed_lists(output: bytes, path: str) -> JsonObject:
    if not output.strip():
        return {}
    try:
        content = orjson.loads(output)
    except orjson.JSONDecodeError as error:
        raise RegistrationError(f"{path}: prints what is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise RegistrationError(f"{path}: must print a JSON object")
    return {key: content[key] for key in LISTS if key in content}
