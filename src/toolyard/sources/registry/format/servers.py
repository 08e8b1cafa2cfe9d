"""A `servers` entry, read into a ServerDefinition. Knows no tools."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from toolyard.configuration.check import check
from toolyard.configuration.objects import shape
from toolyard.errors import did_you_mean
from toolyard.files.pointers import escape
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.format.report import Report
from toolyard.sources.registry.format.variables import Variables, mentions_variable
from toolyard.upstreams.definition import ServerDefinition, Transport

TRANSPORTS: Mapping[str, Transport] = {
    "stdio": "stdio",
    "sse": "sse",
    "streamablehttp": "streamablehttp",
    "http": "streamablehttp",
}


@dataclass(slots=True)
class Surroundings:
    """Where a registry is read: what it may refer to outside of itself."""

    report: Report
    environ: Mapping[str, str]
    folder: str
    secrets: set[str] = field(default_factory=set)


def read_server(raw: Json, pointer: str, around: Surroundings) -> ServerDefinition | None:
    """None where it has no name by which to speak of it; every problem is in the report."""
    unreachable = around.report.reason(pointer) is not None  # the conversion has said why
    stated = check(raw, shape("registry", "/$defs/server"), around.report, pointer)
    if stated is None:
        return None
    if not unreachable:
        _check_way(stated, pointer, around.report)
    return _Filling(pointer, around).server(stated) if "name" in stated else None


def _check_way(stated: JsonObject, pointer: str, report: Report) -> None:
    ways = [way for way in ("stdio", "url") if way in stated]
    named = f"server {stated['name']}" if "name" in stated else "a server"
    if len(ways) == 2:
        report.problem(pointer, f"{named} has both stdio and url; a server has one of them")
    elif not ways:
        report.problem(pointer, f"{named} needs stdio (a command) or url")
    url = stated.get("url")
    if url is not None and not mentions_variable(url) and not _is_http(url):
        report.problem(f"{pointer}/url", "must begin with http:// or https://")
    _check_transport(stated, pointer, report)


def _check_transport(stated: JsonObject, pointer: str, report: Report) -> None:
    if "transport" not in stated:
        return
    at = f"{pointer}/transport"
    transport = transport_named(stated["transport"])
    if "stdio" in stated:
        if transport != "stdio":
            report.warn(at, f'"{stated["transport"]}" is ignored: the server is a command')
    elif transport is None:
        known = ("sse", "streamablehttp", "stdio")
        mean = did_you_mean(stated["transport"], known)
        report.problem(at, f'must be "sse" or "streamablehttp"{mean}')
    elif transport == "stdio":
        report.problem(at, f'"{stated["transport"]}" does not go with what else is stated')


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def transport_named(text: str) -> Transport | None:
    return TRANSPORTS.get(text.lower().replace("-", "").replace("_", ""))


class _Filling:
    """One server's values with their variables filled in."""

    def __init__(self, pointer: str, around: Surroundings) -> None:
        self._pointer = pointer
        self._around = around
        self._unset: list[str] = []
        self._secrets: set[str] = set()

    def server(self, stated: JsonObject) -> ServerDefinition:
        stdio = stated.get("stdio", {})
        expose = stated.get("expose", "listed")
        transport = transport_named(stated.get("transport", "")) or "auto"
        filled: dict[str, Any] = {
            "command": self._filled("stdio/command", stdio.get("command")),
            "args": tuple(self._filled("stdio/args", stdio.get("args", []))),
            "cwd": self._folder(stdio.get("cwd")),
            "env": self._env(stated.get("env", {})),
            "url": self._filled("url", stated.get("url")),
            "headers": self._headers(stated.get("headers", {})),
            "oauth": self._filled("oauth", stated.get("oauth", {})),
        }
        self._around.secrets |= self._secrets
        return ServerDefinition(
            name=stated["name"],
            description=stated.get("description", ""),
            transport="stdio" if "stdio" in stated else transport,
            auth=stated.get("auth", "none"),
            timeout=stated.get("timeoutSecs"),
            expose=tuple(expose) if isinstance(expose, list) else expose,
            prefix=stated.get("prefix", ""),
            share=stated.get("share", "safe"),
            validate=stated.get("validate", False),
            disabled=self._disabled(stated.get("disabled", False), filled["url"]),
            secrets=frozenset(self._secrets),
            **filled,
        )

    def _filled(self, at: str, value: Any) -> Any:
        variables = Variables(self._around.environ)
        filled = variables.fill(value)
        self._secrets |= variables.secrets
        place = self._around.report.place(f"{self._pointer}/{at}")
        self._unset += [f"variable {name} is not set ({place})" for name in variables.missing]
        return filled

    def _folder(self, cwd: str | None) -> str | None:
        if cwd is None:
            return None
        return os.path.join(self._around.folder, os.path.expanduser(self._filled("stdio/cwd", cwd)))

    def _headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            name: self._filled(f"headers/{escape(name)}", value) for name, value in headers.items()
        }

    def _env(self, env: Mapping[str, str]) -> dict[str, str]:
        """An unset variable leaves its entry out: the child sees it as unset too."""
        filled = {}
        for name, value in env.items():
            variables = Variables(self._around.environ)
            text = variables.fill(value)
            self._secrets |= variables.secrets
            if variables.missing:
                unset = ", ".join(variables.missing)
                said = f"variable {unset} is not set; {name} is left out"
                self._around.report.warn(f"{self._pointer}/env/{escape(name)}", said)
            else:
                filled[name] = text
        return filled

    def _disabled(self, stated: bool | str, url: str | None) -> str | None:
        if stated:
            return stated if isinstance(stated, str) else "disabled in the registry"
        if self._unset:
            said = "; ".join(self._unset)
            self._around.report.warn(self._pointer, f"this server is disabled: {said}")
            return said
        if url is not None and not _is_http(url):
            return "its url does not begin with http:// or https://"
        return None
