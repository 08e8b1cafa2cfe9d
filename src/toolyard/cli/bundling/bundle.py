"""toolyard bundle: a project as one .mcpb file that desktop clients install."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import orjson

from toolyard.cli.bundling.facts import facts_of, read_conf, read_server_meta
from toolyard.cli.bundling.files import checked_includes, icon_of, project_files
from toolyard.cli.bundling.manifest import ENTRY, PROGRAM, PROJECT, Bundled, manifest
from toolyard.cli.bundling.user_config import check_user_config
from toolyard.cli.bundling.vendoring import library_files, program_files, requirements
from toolyard.cli.choosing import chosen_by, project_of
from toolyard.cli.options import Chosen, add_project
from toolyard.errors import ConfigError
from toolyard.files.whole import replacing
from toolyard.protocol.call import JsonObject
from toolyard.sources.project.cache import files as cache
from toolyard.sources.project.cache.kinds import FILES, apart
from toolyard.sources.project.discover.metadata import Metadata
from toolyard.sources.project.discover.scan import Scan, scan
from toolyard.sources.project.identity import read_identity
from toolyard.sources.project.layout import REGISTRY_FILE, Project

PLATFORMS = ("darwin", "linux")
_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
_UNSAFE_IN_NAMES = re.compile(r"[^A-Za-z0-9._+-]+")
_MAIN = '''"""Start this bundle's server."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))

from toolyard.cli import @MAIN@

sys.exit(@MAIN@(["serve", os.path.dirname(HERE), *sys.argv[1:]]))
'''


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "Author, repository, license, user_config and the like come from mcpb.conf "
        "(MCPB_AUTHOR_NAME=... and so on), then from server.d/server.meta.json. The bundle holds "
        "what is needed to serve the project, and the files of MCPB_INCLUDE='FILE ...'. With "
        "manifest 0.3 it contains the libraries for this system; with 0.4 the client fetches "
        "them with uv."
    )
    parser.add_argument("--output", default=".", metavar="DIR", help="where to put it")
    parser.add_argument("--name", help="of the bundle (default: the server's)")
    parser.add_argument("--version", help="of the bundle (default: the server's)")
    parser.add_argument("--manifest", choices=("0.3", "0.4"), default="0.3", help="its version")
    parser.add_argument(
        "--platform", choices=(*PLATFORMS, "all"), help="which systems (0.3: this one only)"
    )
    parser.add_argument(
        "--include-gojq", action="store_true", help="accepted; scripts get a jq anyway"
    )
    parser.add_argument("--validate", action="store_true", help="check the project, write nothing")
    parser.add_argument("--verbose", action="store_true", help="name each file")
    add_project(parser)


def run(options: Namespace) -> int:
    choice = chosen_by(options)
    project = project_of(choice)
    contents = scan(project, choice.settings, Metadata())
    if contents.broken:
        raise ConfigError.at(project.root, "; ".join(sorted(set(contents.broken.values()))))
    conf = read_conf(project)
    includes = checked_includes(project, conf.get("MCPB_INCLUDE", ""))
    bundle = _bundled(options, choice, contents, conf)
    content = manifest(bundle, options.manifest)
    if options.validate:
        print(orjson.dumps(content).decode())
        return 0
    if os.path.isfile(os.path.join(project.root, REGISTRY_FILE)) and REGISTRY_FILE not in includes:
        notice = f"{REGISTRY_FILE} is left out; MCPB_INCLUDE={REGISTRY_FILE} packs it"
        print(f"{notice}, with whatever secrets are in it", file=sys.stderr)
    path = Path(options.output) / f"{_file_name(bundle.name)}-{_file_name(bundle.version)}.mcpb"
    package = Packed(
        orjson.dumps(content, option=orjson.OPT_INDENT_2),
        bundle,
        (*includes, *_shown_files(bundle)),
    )
    _write(path, _contents(options, project, contents, package), verbose=options.verbose)
    print(f"{path} ({path.stat().st_size // 1024} KiB)")
    return 0


class Packed(NamedTuple):
    """What is written into the bundle, beside the program and its libraries."""

    manifest: bytes
    bundle: Bundled
    includes: tuple[str, ...]


def _file_name(text: str) -> str:
    """A name that cannot leave its folder, whatever the project calls itself."""
    return _UNSAFE_IN_NAMES.sub("-", text).strip("-.") or "server"


def _bundled(
    options: Namespace, choice: Chosen, contents: Scan, conf: Mapping[str, str]
) -> Bundled:
    project = project_of(choice)
    info = read_identity(project, choice.settings).info
    facts = facts_of(project, conf)
    check_user_config(facts)
    icon = icon_of(project)
    return Bundled(
        name=options.name or conf.get("MCPB_NAME") or info["name"],
        version=options.version or conf.get("MCPB_VERSION") or info["version"],
        meta={**{k: v for k, v in info.items() if k != "icons"}, **facts},
        tools=contents.items.get("tools", ()),
        prompts=tuple(_prompts(project, contents)),
        has_programs=any(item.get("executable") for item in contents.items.get("prompts", ())),
        platforms=_platforms(options),
        python=_python(options),
        registry=conf.get("MCPB_STATIC", "true").lower() not in ("false", "0", "no", "off"),
        movable=not _has_places(contents, project),
        icon=f"{PROJECT}/{icon}" if icon else None,
        long_description=_long_description(project, facts),
        env=_environment(options, project, info),
    )


def _environment(options: Namespace, project: Project, info: JsonObject) -> dict[str, str]:
    """The server's name and version, where its metadata has none: its folder is renamed there."""
    meta = read_server_meta(project)
    variables = {"MCPBASH_TOOL_ALLOWLIST": "*"} if options.like_mcp_bash else {}
    for field in ("name", "version"):
        if not meta.get(field):
            variables[f"MCPBASH_SERVER_{field.upper()}"] = str(info[field])
    return variables


def _prompts(project: Project, contents: Scan) -> Iterator[JsonObject]:
    """The prompts that are texts, as a manifest writes them; programs are run when needed."""
    for item in contents.items.get("prompts", ()):
        path = Path(project.prompts, str(item.get("path", "")))
        if item.get("executable") or item.get("unavailable") or not path.is_file():
            continue
        names = [argument["name"] for argument in item.get("arguments", ())]
        text = _with_arguments(path.read_text(encoding="utf-8", errors="replace"), names)
        yield {
            "name": item["name"],
            "description": item.get("description") or item["name"],
            **({"arguments": names} if names else {}),
            "text": text.rstrip("\n"),
        }


def _with_arguments(text: str, names: Collection[str]) -> str:
    """`{{name}}` as a manifest writes it."""

    def written(match: re.Match[str]) -> str:
        return f"${{arguments.{match[1]}}}" if match[1] in names else match[0]

    return _PLACEHOLDER.sub(written, text)


def _shown_files(bundle: Bundled) -> tuple[str, ...]:
    """Screenshots that are files of the project."""
    shots = bundle.meta.get("screenshots")
    paths = [shot for shot in shots if isinstance(shot, str)] if isinstance(shots, list) else []
    return tuple(
        shot
        for shot in paths
        if "://" not in shot and not os.path.isabs(shot) and ".." not in shot.split("/")
    )


def _platforms(options: Namespace) -> list[str]:
    if options.manifest == "0.4":
        return [options.platform] if options.platform in PLATFORMS else list(PLATFORMS)
    if options.platform not in (None, sys.platform):
        raise ConfigError.at(
            "--platform",
            f"the bundle contains libraries for {sys.platform}; with --manifest 0.4 it has none",
        )
    return [sys.platform]


def _python(options: Namespace) -> str:
    if options.manifest == "0.4":
        return ">=3.11"
    major, minor = sys.version_info[:2]
    return f">={major}.{minor},<{major}.{minor + 1}"


def _has_places(contents: Scan, project: Project) -> bool:
    """Does an item name a place on this machine? Then the project is scanned where it ends up."""
    text = orjson.dumps(contents.items).decode()
    return "file://" in text or project.root in text


def _long_description(project: Project, meta: JsonObject) -> str | None:
    file = meta.get("long_description_file")
    if not isinstance(file, str):
        return None
    try:
        return Path(project.root, file).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError.at(file, f"cannot be read: {error.strerror}") from None


def _contents(
    options: Namespace, project: Project, contents: Scan, package: Packed
) -> Iterator[tuple[str, bytes | Path]]:
    yield "manifest.json", package.manifest
    yield ENTRY, _MAIN.replace("@MAIN@", "mcp_bash" if options.like_mcp_bash else "main").encode()
    for inside, path in project_files(project, package.includes):
        yield f"{PROJECT}/{inside}", path
    if package.bundle.registry:
        files = apart(contents.items)
        for kind, name in FILES.items():
            yield f"{PROJECT}/.registry/{name}", _registry(files[kind])
    for inside, path in program_files():
        yield f"{PROGRAM}/lib/{inside}", path
    if options.manifest == "0.3":
        for inside, path in library_files():
            yield f"{PROGRAM}/lib/{inside}", path
    else:
        yield "pyproject.toml", _pyproject(package.bundle).encode()


def _registry(items: list[JsonObject]) -> bytes:
    return cache.envelope(items, cache.hash_of(items))


def _pyproject(bundle: Bundled) -> str:
    dependencies = "".join(f"  {orjson.dumps(line).decode()},\n" for line in requirements())
    return (
        f"[project]\nname = {orjson.dumps(bundle.name).decode()}\n"
        f"version = {orjson.dumps(bundle.version).decode()}\n"
        f'requires-python = ">=3.11"\ndependencies = [\n{dependencies}]\n'
    )


def _write(path: Path, contents: Iterator[tuple[str, bytes | Path]], *, verbose: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(str(path)) as beside,
        zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as bundle,
    ):
        for name, content in contents:
            if verbose:
                print(name, file=sys.stderr)
            data = content if isinstance(content, bytes) else content.read_bytes()
            runs = not isinstance(content, bytes) and os.access(content, os.X_OK)
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if runs else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            bundle.writestr(entry, data)
