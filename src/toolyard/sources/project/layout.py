"""Where the parts of a project are. Knows folder names, reads nothing.

On the path to the first answer: no imports beyond os and typing.
"""

# Annotations are no text here: a NamedTuple compiles such text, and every start waits for it.
import os
from typing import NamedTuple

from toolyard.settings import Settings

REGISTRY_FILE = "registry.json"
# What lists put before the name of a page, so that no resource has the same.
PAGE_PREFIX = "ui."
SERVER_META = os.path.join("server.d", "server.meta.json")


class Project(NamedTuple):
    """Real paths; a folder may be missing."""

    root: str
    tools: str
    resources: str
    prompts: str
    server: str
    providers: str
    ui: str
    completions: str
    registry: str
    page_prefix: str = PAGE_PREFIX


def project_at(root: str, settings: Settings) -> Project:
    root = os.path.realpath(root)

    def below(folder: str) -> str:
        return os.path.realpath(os.path.join(root, folder))

    return Project(
        root=root,
        tools=below(settings.tools_dir),
        resources=below(settings.resources_dir),
        prompts=below(settings.prompts_dir),
        server=below(settings.server_dir),
        providers=below(settings.providers_dir),
        ui=below(settings.ui_dir),
        completions=below(settings.completions_dir),
        registry=below(settings.registry_dir),
    )


def registry_paths(project: Project | None, named: tuple[str, ...]) -> tuple[str, ...]:
    """The project's own `registry.json`, if it has one, and the files named."""
    if project is None:
        return named
    own = os.path.join(project.root, REGISTRY_FILE)
    if not os.path.isfile(own):
        return named
    more = (path for path in named if not os.path.samefile(path, own))
    return (own, *more)


def is_project(folder: str) -> bool:
    """It says so by its `server.d`, or it has a registry file, with or without scripts."""
    return _has(folder, SERVER_META) or _has(folder, REGISTRY_FILE)


def find_root(start: str) -> str | None:
    """The project at `start`, or the nearest one above it.

    Above, `server.d` alone counts: many a folder has some `registry.json` that is not ours.
    """
    folder = os.path.abspath(start)
    if is_project(folder):
        return folder
    while not _has(folder, SERVER_META):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _has(folder: str, file: str) -> bool:
    return os.path.isfile(os.path.join(folder, file))
