"""What commands share: the project that is meant, its settings and its identity."""

# Annotations are no text here: a NamedTuple compiles such text, and every start waits for it.
import os
from argparse import ArgumentParser, Namespace
from typing import NamedTuple

from toolyard.errors import ConfigError
from toolyard.protocol.identity import MINIMAL_CAPABILITIES, Identity
from toolyard.settings import Settings, load
from toolyard.sources.project.identity import read_identity
from toolyard.sources.project.layout import REGISTRY_FILE, Project, find_root, project_at

DEFAULT_NAME = "toolyard"


class Chosen(NamedTuple):
    """What a command works on."""

    settings: Settings
    project: Project | None
    registries: tuple[str, ...] = ()
    # The name we were called by, for messages that say what to type.
    program: str = "toolyard"


def add_project(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--project-root", metavar="DIR", help="the project (default: the one you are in)"
    )
    add_registry(parser)
    parser.add_argument("--config", metavar="FILE", help="settings (default: DIR/toolyard.json)")
    parser.add_argument("--log-level", help="debug, info, warning or error")
    parser.add_argument(
        "--log-format", choices=("text", "json"), default="text", help="how logs look on stderr"
    )


def add_registry(parser: ArgumentParser) -> None:
    """The one way to name a registry file, whatever the command."""
    parser.add_argument(
        "--registry",
        action="append",
        default=[],
        metavar="FILE",
        help=f"a registry file; repeatable (default: {REGISTRY_FILE} of the project)",
    )


def choose(options: Namespace) -> Chosen:
    """The project and the registry files that the command line names, and their settings."""
    folders, files = _sorted_out(getattr(options, "path", []))
    root = _root(options, folders, files)
    flags = {name: getattr(options, name, None) for name in ("log_level", "store", "peer")}
    flags = {name: value for name, value in flags.items() if value}
    settings = load(flags=flags, file=options.config, project=root)
    project = project_at(root, settings) if root else None
    if project is not None and options.like_mcp_bash:
        project = project._replace(page_prefix="")
    return Chosen(settings, project, (*files, *_registries(options)), options.program)


def _registries(options: Namespace) -> list[str]:
    for path in options.registry:
        if not os.path.isfile(path):
            raise ConfigError.at(path, "no such file")
    return list(options.registry)


def _sorted_out(paths: list[str]) -> tuple[list[str], list[str]]:
    """Folders are projects, files are registries."""
    folders = [path for path in paths if os.path.isdir(path)]
    files = [path for path in paths if os.path.isfile(path)]
    for path in paths:
        if path not in folders and path not in files:
            raise ConfigError.at(path, "no such folder or file")
    if len(folders) > 1:
        raise ConfigError.at(
            folders[1], "only one project can be served; put other servers in a registry"
        )
    return folders, files


def _root(options: Namespace, folders: list[str], files: list[str]) -> str | None:
    folder = options.project_root or (folders[0] if folders else None)
    if folder is None and not files:
        # An empty variable is an unset one.
        folder = os.environ.get("TOOLYARD_PROJECT_ROOT") or os.environ.get("MCPBASH_PROJECT_ROOT")
        if not folder:
            return find_root(os.getcwd())
    if folder is not None and not os.path.isdir(folder):
        wrong = "is not a folder" if os.path.lexists(folder) else "does not exist"
        raise ConfigError.at(folder, wrong)
    return os.path.abspath(folder) if folder is not None else None


def identity_of(choice: Chosen) -> Identity:
    """What its server calls itself."""
    identity = _own_identity(choice)
    if choice.settings.force_minimal:
        return identity._replace(capabilities=MINIMAL_CAPABILITIES, extensions={})
    return identity


def _own_identity(choice: Chosen) -> Identity:
    if choice.project is None:
        name = os.path.basename(choice.registries[0]) if choice.registries else DEFAULT_NAME
        return Identity({"name": name, "version": "0.0.0", "title": "Toolyard"})
    identity = read_identity(choice.project, choice.settings)
    return Identity(identity.info, identity.instructions)
