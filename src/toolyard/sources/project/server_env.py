"""server.d/env.sh: variables for the project's scripts, under the hooks' opt-in."""

from __future__ import annotations

import os

from toolyard.errors import ConfigError
from toolyard.files.safety import why_unsafe
from toolyard.scripts.contract.sourcing import exports_of
from toolyard.scripts.settings import ServerEnv
from toolyard.settings import Settings, secret_variables
from toolyard.sources.project.layout import Project
from toolyard.telemetry import logger

log = logger("project")
ENV_FILE = "env.sh"


def read_server_env(project: Project, settings: Settings) -> ServerEnv:
    path = os.path.join(project.server, ENV_FILE)
    if not os.path.lexists(path):
        return ServerEnv()
    if not settings.allow_project_hooks:
        log.warning("%s: is not read without MCPBASH_ALLOW_PROJECT_HOOKS=true", path)
        return ServerEnv()
    unsafe = why_unsafe(path, project.server, project.root)
    if unsafe is not None:
        return _refused(unsafe)
    secrets = secret_variables()
    environ = {name: value for name, value in os.environ.items() if name not in secrets}
    variables = {"MCPBASH_PROJECT_ROOT": project.root, "MCPBASH_SERVER_DIR": project.server}
    try:
        return ServerEnv(exports_of(path, {**environ, **variables}, project.root))
    except ConfigError as error:
        return _refused(str(error))


def _refused(why: str) -> ServerEnv:
    log.error("%s: no script is run until this is fixed", why)
    return ServerEnv(problem=why)
