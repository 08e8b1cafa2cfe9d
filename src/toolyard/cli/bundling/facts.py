"""What a bundle says about itself: from mcpb.conf, server.meta.json and git, in that order."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from toolyard.errors import ConfigError
from toolyard.files.objects import read_object, read_value
from toolyard.processes.shell import TookTooLong, run_to_end
from toolyard.protocol.call import JsonObject
from toolyard.sources.project.layout import Project

CONF = "mcpb.conf"
_GIT_SECONDS = 5.0
_SCP_LIKE = re.compile(r"^(?:[^@/]+@)?([^:/]+):(?!//)(.+)$")
_USER_INFO = re.compile(r"^(https?://)[^/@]*@")


def read_conf(project: Project) -> dict[str, str]:
    """`NAME=value` lines of mcpb.conf, read and never run."""
    path = os.path.join(project.root, CONF)
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError.at(path, f"cannot be read: {error}") from None
    try:
        words = [shlex.split(line.removeprefix("export "), comments=True) for line in lines]
    except ValueError as error:
        raise ConfigError.at(path, f"is not a list of NAME=value lines: {error}") from None
    pairs = [parts[0].partition("=") for parts in words if len(parts) == 1]
    return {name: value for name, equals, value in pairs if equals}


def read_server_meta(project: Project) -> dict[str, Any]:
    try:
        return read_object(os.path.join(project.server, "server.meta.json"))
    except ConfigError:
        return {}


def facts_of(project: Project, conf: Mapping[str, str]) -> JsonObject:
    """Everything known about the project, with the field names of server.meta.json."""
    meta = read_server_meta(project)
    facts = {**meta, **_from_conf(conf, project)}
    facts["author"] = _author(facts.get("author"), conf) or _git_author(project)
    facts["compatibility"] = _compatibility(facts.get("compatibility"), conf)
    facts["repository"] = facts.get("repository") or _git_repository(project)
    return {name: value for name, value in facts.items() if value not in (None, "", {})}


def _from_conf(conf: Mapping[str, str], project: Project) -> JsonObject:
    facts = {
        field: reader(conf[f"MCPB_{name}"])
        for name, (field, reader) in _FIELDS.items()
        if conf.get(f"MCPB_{name}")
    }
    file = conf.get("MCPB_USER_CONFIG_FILE")
    if file:
        facts["user_config"] = read_value(os.path.join(project.root, file))
    return facts


def _same(text: str) -> str:
    return text


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _pairs(text: str) -> JsonObject | list[str]:
    """`key=VALUE` words, bare keys, or JSON."""
    if text.lstrip().startswith(("{", "[")):
        try:
            value: JsonObject | list[str] = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise ConfigError.at(CONF, f"a map is not JSON: {error}") from None
        return value
    words = _words(text)
    if not any("=" in word for word in words):
        return words
    return {key: value for key, _, value in (word.partition("=") for word in words)}


# MCPB_X of mcpb.conf -> the field of server.meta.json, and how its text is read.
_FIELDS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "DESCRIPTION": ("description", _same),
    "LONG_DESCRIPTION_FILE": ("long_description_file", _same),
    "REPOSITORY": ("repository", _same),
    "LICENSE": ("license", _same),
    "KEYWORDS": ("keywords", _words),
    "HOMEPAGE": ("homepage", _same),
    "DOCUMENTATION": ("documentation", _same),
    "SUPPORT": ("support", _same),
    "PRIVACY_POLICIES": ("privacy_policies", _words),
    "USER_CONFIG_ENV_MAP": ("user_config_env_map", _pairs),
    "USER_CONFIG_ARGS_MAP": ("user_config_args_map", _pairs),
}


def _author(value: Any, conf: Mapping[str, str]) -> JsonObject:
    fields = {"name": value} if isinstance(value, str) else value
    author = dict(fields) if isinstance(fields, dict) else {}
    for part in ("name", "email", "url"):
        if conf.get(f"MCPB_AUTHOR_{part.upper()}"):
            author[part] = conf[f"MCPB_AUTHOR_{part.upper()}"]
    return author


def _compatibility(value: Any, conf: Mapping[str, str]) -> JsonObject:
    compatibility = dict(value) if isinstance(value, dict) else {}
    if conf.get("MCPB_COMPAT_CLAUDE_DESKTOP"):
        compatibility["claude_desktop"] = conf["MCPB_COMPAT_CLAUDE_DESKTOP"]
    runtimes = dict(compatibility.get("runtimes") or {})
    for name in ("python", "node"):
        if conf.get(f"MCPB_RUNTIME_{name.upper()}"):
            runtimes[name] = conf[f"MCPB_RUNTIME_{name.upper()}"]
    return {**compatibility, "runtimes": runtimes} if runtimes else compatibility


def _git_author(project: Project) -> JsonObject:
    name, email = (_git(project, "config", f"user.{part}") for part in ("name", "email"))
    return {"name": name, **({"email": email} if email else {})} if name else {}


def _git_repository(project: Project) -> str:
    """The address of origin as anybody can open it, without user and password."""
    url = _git(project, "remote", "get-url", "origin")
    scp_like = _SCP_LIKE.match(url)
    if scp_like:
        url = f"https://{scp_like[1]}/{scp_like[2]}"
    url = _USER_INFO.sub(r"\1", url.replace("ssh://git@", "https://", 1))
    return url if url.startswith("https://") else ""


def _git(project: Project, *words: str) -> str:
    try:
        process = run_to_end(["git", "-C", project.root, *words], timeout=_GIT_SECONDS)
    except (OSError, TookTooLong):
        return ""
    return process.output.decode("utf-8", "replace").strip() if process.code == 0 else ""
