"""A `servers` entry, read into a ServerDefinition. Knows no tools."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from toolyard.configuration.check import check
from toolyard.configuration.objects import shape
from toolyard.context.cutting import limit_of
from toolyard.errors import did_you_mean
from toolyard.files.pointers import escape
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.format.ourselves import starts_itself
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
    """None where it has no name to refer to it by; every problem is in the report."""
    unreachable = around.report.reason(pointer) is not None  # the conversion has said why
    entry = check(raw, shape("registry", "/$defs/server"), around.report, pointer)
    if entry is None:
        return None
    if not unreachable:
        _check_way(entry, pointer, around.report)
    if "name" not in entry:
        return None
    server = _Filling(pointer, around).server(entry)
    if server.disabled is None and starts_itself(server, around.report.file):
        reason = "it would start this server again, and that one the next, without end"
        around.report.warn(pointer, f"server {server.name} is disabled: {reason}")
        return replace(server, disabled=reason)
    return server


def _check_way(entry: JsonObject, pointer: str, report: Report) -> None:
    ways = [way for way in ("stdio", "url") if way in entry]
    subject = f"server {entry['name']}" if "name" in entry else "a server"
    if len(ways) == 2:
        report.problem(pointer, f"{subject} has both stdio and url; a server has one of them")
    elif not ways:
        report.problem(pointer, f"{subject} needs stdio (a command) or url")
    url = entry.get("url")
    if url is not None and not mentions_variable(url) and not _is_http(url):
        report.problem(f"{pointer}/url", "must begin with http:// or https://")
    _check_transport(entry, pointer, report)


def _check_transport(entry: JsonObject, pointer: str, report: Report) -> None:
    if "transport" not in entry:
        return
    at = f"{pointer}/transport"
    transport = transport_named(entry["transport"])
    if "stdio" in entry:
        if transport != "stdio":
            report.warn(at, f'"{entry["transport"]}" is ignored: the server is a command')
    elif transport is None:
        transports = ("sse", "streamablehttp", "stdio")
        mean = did_you_mean(entry["transport"], transports)
        report.problem(at, f'must be "sse" or "streamablehttp"{mean}')
    elif transport == "stdio":
        report.problem(at, f'"{entry["transport"]}" does not fit the rest of the entry')


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def transport_named(text: str) -> Transport | None:
    return TRANSPORTS.get(text.lower().replace("-", "").replace("_", ""))


def _instructions(value: bool | str | None) -> str | None:
    if isinstance(value, bool):
        return None if value else ""
    return value


class _Filling:
    """One server's values with their variables filled in."""

    def __init__(self, pointer: str, around: Surroundings) -> None:
        self._pointer = pointer
        self._around = around
        self._unset: list[str] = []
        self._secrets: set[str] = set()

    def server(self, entry: JsonObject) -> ServerDefinition:
        stdio = entry.get("stdio", {})
        expose = entry.get("expose", "listed")
        transport = transport_named(entry.get("transport", "")) or "auto"
        connection: dict[str, Any] = {
            "command": self._filled("stdio/command", stdio.get("command")),
            "args": tuple(self._filled("stdio/args", stdio.get("args", []))),
            "cwd": self._folder(stdio.get("cwd")),
            "env": self._env(entry.get("env", {})),
            "url": self._filled("url", entry.get("url")),
            "headers": self._headers(entry.get("headers", {})),
            "oauth": self._filled("oauth", entry.get("oauth", {})),
        }
        self._around.secrets |= self._secrets
        return ServerDefinition(
            name=entry["name"],
            description=entry.get("description", ""),
            transport="stdio" if "stdio" in entry else transport,
            auth=entry.get("auth", "none"),
            timeout=entry.get("timeoutSecs"),
            expose=tuple(expose) if isinstance(expose, list) else expose,
            prefix=entry.get("prefix", ""),
            share=entry.get("share", "safe"),
            copies=entry.get("copies", "machine"),
            validate=entry.get("validate", False),
            result_limit=self._result_limit(entry.get("resultLimit")),
            instructions=_instructions(entry.get("instructions")),
            disabled=self._disabled(entry.get("disabled", False), connection["url"]),
            secrets=frozenset(self._secrets),
            **connection,
        )

    def _filled(self, at: str, value: Any) -> Any:
        variables = Variables(self._around.environ)
        result = variables.fill(value)
        self._secrets |= variables.secrets
        place = self._around.report.place(f"{self._pointer}/{at}")
        self._unset += [f"variable {name} is not set ({place})" for name in variables.missing]
        return result

    def _result_limit(self, value: Json) -> int | None:
        try:
            return limit_of(value)
        except ValueError as error:
            self._around.report.problem(f"{self._pointer}/resultLimit", str(error))
            return None

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
        values = {}
        for name, value in env.items():
            variables = Variables(self._around.environ)
            text = variables.fill(value)
            self._secrets |= variables.secrets
            if variables.missing:
                unset = ", ".join(variables.missing)
                message = f"variable {unset} is not set; {name} is left out"
                self._around.report.warn(f"{self._pointer}/env/{escape(name)}", message)
            else:
                values[name] = text
        return values

    def _disabled(self, switch: bool | str, url: str | None) -> str | None:
        if switch:
            return switch if isinstance(switch, str) else "disabled in the registry"
        if self._unset:
            reason = "; ".join(self._unset)
            self._around.report.warn(self._pointer, f"this server is disabled: {reason}")
            return reason
        if url is not None and not _is_http(url):
            return "its url does not begin with http:// or https://"
        return None
