"""toolyard bundle: a project as one .mcpb file that desktop clients install."""

from __future__ import annotations

import os
import shlex
import sys
import zipfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from toolyard.cli.choosing import chosen_by, project_of
from toolyard.cli.manifest import ENTRY, Bundled, manifest
from toolyard.cli.options import Chosen, add_project
from toolyard.cli.vendoring import library_files, program_files, requirements
from toolyard.errors import ConfigError
from toolyard.protocol.call import JsonObject
from toolyard.sources.project import cache
from toolyard.sources.project.identity import read_identity
from toolyard.sources.project.layout import Project
from toolyard.sources.project.metadata import Metadata
from toolyard.sources.project.registry_files import FILES, apart
from toolyard.sources.project.scan import Scan, scan

PLATFORMS = ("darwin", "linux")
_LEFT_OUT = frozenset({"__pycache__", "node_modules", "test", "tests"})
_MAIN = '''"""Start the server of this bundle."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))

from toolyard.cli import main

sys.exit(main(["serve", os.path.join(HERE, "project"), *sys.argv[1:]]))
'''


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "Author, repository, license, user_config and the like come from server.d/"
        "server.meta.json; MCPB_NAME=..., MCPB_VERSION=... and MCPB_INCLUDE='FILE ...' from "
        "mcpb.conf. With manifest 0.3 the libraries for this system are inside; with 0.4 the "
        "client fetches them with uv."
    )
    parser.add_argument("--output", default=".", metavar="DIR", help="where it is put")
    parser.add_argument("--name", help="of the bundle (default: the server's)")
    parser.add_argument("--version", help="of the bundle (default: the server's)")
    parser.add_argument("--manifest", choices=("0.3", "0.4"), default="0.3", help="its version")
    parser.add_argument(
        "--platform", choices=(*PLATFORMS, "all"), help="for whom (0.3: this system only)"
    )
    parser.add_argument("--validate", action="store_true", help="check the project, write nothing")
    parser.add_argument("--verbose", action="store_true", help="name each file")
    add_project(parser)


def run(options: Namespace) -> int:
    chosen = chosen_by(options)
    project = project_of(chosen)
    found = scan(project, chosen.settings, Metadata())
    if found.broken:
        raise ConfigError.at(project.root, "; ".join(sorted(set(found.broken.values()))))
    bundled = _bundled(options, chosen, found)
    if options.validate:
        print(orjson.dumps(manifest(bundled, options.manifest)).decode())
        return 0
    path = Path(options.output) / f"{bundled.name}-{bundled.version}.mcpb"
    _write(path, _contents(options, chosen, found, bundled), verbose=options.verbose)
    print(f"{path} ({path.stat().st_size // 1024} KiB)")
    return 0


def _bundled(options: Namespace, chosen: Chosen, found: Scan) -> Bundled:
    project = project_of(chosen)
    info = read_identity(project, chosen.settings).info
    meta, conf = _server_meta(project), _conf(project)
    icon = next((name for name in ("icon.png", "server.d/icon.png") if _has(project, name)), None)
    return Bundled(
        name=options.name or conf.get("MCPB_NAME") or info["name"],
        version=options.version or conf.get("MCPB_VERSION") or info["version"],
        meta={**info, **meta},
        tools=found.items.get("tools", ()),
        has_prompts=bool(found.items.get("prompts")),
        platforms=_platforms(options),
        python=_python(options),
        static=not _has_places(found, project),
        icon=f"server/project/{icon}" if icon else None,
        long_description=_long_description(project, meta),
    )


def _platforms(options: Namespace) -> list[str]:
    if options.manifest == "0.4":
        return [options.platform] if options.platform in PLATFORMS else list(PLATFORMS)
    if options.platform not in (None, sys.platform):
        raise ConfigError.at(
            "--platform",
            f"the libraries inside are for {sys.platform}; --manifest 0.4 has none inside",
        )
    return [sys.platform]


def _python(options: Namespace) -> str:
    if options.manifest == "0.4":
        return ">=3.11"
    major, minor = sys.version_info[:2]
    return f">={major}.{minor},<{major}.{minor + 1}"


def _has_places(found: Scan, project: Project) -> bool:
    """Does an item name a place on this machine? Then the files are scanned where they end up."""
    text = orjson.dumps(found.items).decode()
    return "file://" in text or project.root in text


def _server_meta(project: Project) -> dict[str, Any]:
    try:
        content = orjson.loads(Path(project.server, "server.meta.json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return content if isinstance(content, dict) else {}


def _conf(project: Project) -> dict[str, str]:
    """`NAME=value` lines of mcpb.conf, read and never run."""
    try:
        lines = Path(project.root, "mcpb.conf").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    words = [shlex.split(line.removeprefix("export "), comments=True) for line in lines]
    pairs = [parts[0].partition("=") for parts in words if len(parts) == 1]
    return {name: value for name, equals, value in pairs if equals}


def _has(project: Project, name: str) -> bool:
    return os.path.isfile(os.path.join(project.root, name))


def _long_description(project: Project, meta: dict[str, Any]) -> str | None:
    named = meta.get("long_description_file")
    if not isinstance(named, str):
        return None
    try:
        return Path(project.root, named).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError.at(named, f"cannot be read: {error.strerror}") from None


def _contents(
    options: Namespace, chosen: Chosen, found: Scan, bundled: Bundled
) -> Iterator[tuple[str, bytes | Path]]:
    project = project_of(chosen)
    content = manifest(bundled, options.manifest)
    yield "manifest.json", orjson.dumps(content, option=orjson.OPT_INDENT_2)
    yield ENTRY, _MAIN.encode()
    for inside, path in _project_files(project):
        yield f"server/project/{inside}", path
    files = apart(found.items)
    for kind, name in FILES.items():
        yield f"server/project/.registry/{name}", _registry(files[kind])
    for inside, path in program_files():
        yield f"server/lib/{inside}", path
    if options.manifest == "0.3":
        for inside, path in library_files():
            yield f"server/lib/{inside}", path
    else:
        yield "pyproject.toml", _pyproject(bundled).encode()


def _registry(items: list[JsonObject]) -> bytes:
    return cache.envelope(items, cache.hash_of(items))


def _project_files(project: Project) -> Iterator[tuple[str, Path]]:
    included = set(_conf(project).get("MCPB_INCLUDE", "").split())
    root = Path(project.root)
    for folder, names, files in os.walk(root):
        names[:] = sorted(
            name
            for name in names
            if name in included or (name not in _LEFT_OUT and not name.startswith("."))
        )
        for name in sorted(files):
            path = Path(folder, name)
            if name.endswith(".mcpb") or path.is_symlink():
                continue
            if not name.startswith(".") or name in included:
                yield path.relative_to(root).as_posix(), path


def _pyproject(bundled: Bundled) -> str:
    needed = "".join(f"  {orjson.dumps(line).decode()},\n" for line in requirements())
    return (
        f"[project]\nname = {orjson.dumps(bundled.name).decode()}\n"
        f"version = {orjson.dumps(bundled.version).decode()}\n"
        f'requires-python = ">=3.11"\ndependencies = [\n{needed}]\n'
    )


def _write(path: Path, contents: Iterator[tuple[str, bytes | Path]], *, verbose: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".mcpb.new")
    with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in contents:
            if verbose:
                print(name, file=sys.stderr)
            data = content if isinstance(content, bytes) else content.read_bytes()
            runs = not isinstance(content, bytes) and os.access(content, os.X_OK)
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if runs else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            bundle.writestr(entry, data)
    os.replace(beside, path)
