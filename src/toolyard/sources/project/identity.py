"""Who the server says it is: server.meta.json, VERSION, package.json and the instructions.

On the path to answering `initialize`: the standard library only, no scan, no loop.
"""

# Annotations are no text here: a NamedTuple compiles such text, and every start waits for it.
import os
from typing import Any, NamedTuple

from toolyard.errors import ConfigError
from toolyard.files.objects import read_object
from toolyard.settings import Settings
from toolyard.sources.project.discover.icons import inline_icons
from toolyard.sources.project.layout import Project

DEFAULT_VERSION = "0.0.0"
_TEXTS = frozenset({"name", "version", "title", "description", "websiteUrl"})


class ProjectIdentity(NamedTuple):
    info: dict[str, Any]  # serverInfo in the newest revision's form
    instructions: str | None
    warnings: tuple[str, ...]


def read_identity(project: Project, settings: Settings) -> ProjectIdentity:
    """The metadata decides; what it leaves out the settings say, and then the defaults."""
    warnings: list[str] = []
    path = os.path.join(project.server, "server.meta.json")
    meta = _object(path, warnings)

    def text_of(field: str, otherwise: str) -> str:
        return _text(meta, field, path, warnings) or otherwise

    name = text_of("name", settings.server_name) or os.path.basename(project.root) or "toolyard"
    info: dict[str, Any] = {
        "name": name,
        "version": text_of("version", settings.server_version) or _version(project.root, warnings),
        "title": text_of("title", settings.server_title) or _title(name),
    }
    optional = {
        "description": text_of("description", settings.server_description),
        "websiteUrl": text_of("websiteUrl", settings.server_website_url),
    }
    info |= {field: text for field, text in optional.items() if text}
    icons_stated = meta.get("icons", list(settings.server_icons) or None)
    icons = (
        inline_icons(icons_stated, project.server, warnings, path)
        if icons_stated is not None
        else None
    )
    if icons:
        info["icons"] = icons
    instructions = _instructions(project.server) or settings.server_instructions or None
    return ProjectIdentity(info, instructions, tuple(warnings))


def doubts_about(project: Project) -> list[str]:
    """What is wrong with server.meta.json: for whoever has answered `initialize` already."""
    path = os.path.join(project.server, "server.meta.json")
    if not os.path.lexists(path) or _is_plain(path):
        return []
    # Hardly any project needs it.
    from toolyard.sources.project.discover.examining import examine_metadata  # noqa: PLC0415

    return [
        f"{path}{text}" if text.startswith("#") else f"{path}: {text}"
        for _, text in examine_metadata(path, "server")
    ]


def _is_plain(path: str) -> bool:
    """Nothing but texts that are known: there is nothing to check."""
    try:
        meta = read_object(path)
    except ConfigError:
        return False
    return meta.keys() <= _TEXTS and all(isinstance(text, str) for text in meta.values())


def _object(path: str, warnings: list[str]) -> dict[str, Any]:
    if not os.path.lexists(path):
        return {}
    try:
        return read_object(path)
    except ConfigError as error:
        warnings.append(str(error))
        return {}


def _text(meta: dict[str, Any], field: str, path: str, warnings: list[str]) -> str:
    value = meta.get(field)
    if value is None or isinstance(value, str):
        return value or ""
    warnings.append(f"{path}: {field} must be text; left out")
    return ""


def _version(root: str, warnings: list[str]) -> str:
    try:
        with open(os.path.join(root, "VERSION"), encoding="utf-8") as stream:
            version = stream.read(256).strip()
    except (OSError, ValueError):
        version = ""
    if version:
        return version
    package = os.path.join(root, "package.json")
    return _text(_object(package, warnings), "version", package, warnings) or DEFAULT_VERSION


def _title(name: str) -> str:
    words = name.replace("-", " ").replace("_", " ").replace(".", " ")
    return " ".join(word[:1].upper() + word[1:] for word in words.split()) or name


def _instructions(server: str) -> str | None:
    try:
        path = os.path.join(server, "server.instructions.md")
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read().rstrip("\n") or None
    except OSError:
        return None
