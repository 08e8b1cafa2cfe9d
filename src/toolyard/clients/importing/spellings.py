"""A server's entry, however its client spells it, in the registry's own words. Pure."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from toolyard.clients.importing.entries_in import RawServer

Entry = dict[str, Any]
_ENVIRONMENTS = ("env", "environment", "envs")
_PASSED_ON = ("env_vars", "env_keys")
_URLS = ("httpUrl", "url", "serverUrl", "uri")
_HEADERS = ("headers", "http_headers")
_TRANSPORTS = {
    **dict.fromkeys(("http", "streamablehttp", "streamable", "remote"), "streamablehttp"),
    "sse": "sse",
}
_OTHER_KINDS = {
    "ws": "speaks over a web socket",
    "builtin": "is a part of goose",
    "platform": "is a part of goose",
    "frontend": "is a part of goose",
    "inline_python": "is Python code inside of goose's file",
}
_TOOLS = ("enabledTools", "enabled_tools", "includeTools", "available_tools", "tools")
_TIMEOUTS = ("timeout", "tool_timeout_sec", "toolTimeoutMs", "timeoutMs")
# What says nothing that a registry could.
_SILENT = {"type", "transport", "name", "enabled", "disabled", "isActive", "autoStart", "source"}
_READ = {
    *("command", "args", "cmd", "cwd", "requestOptions", "env_http_headers", "apiKey", "auth"),
    *("bearer_token_env_var", "bearerTokenEnvVar", "api_key_env", "api_key_header"),
    *("api_key_format", "description"),
}
_READ |= {*_ENVIRONMENTS, *_PASSED_ON, *_URLS, *_HEADERS, *_TOOLS, *_TIMEOUTS, *_SILENT}


class Unusable(Exception):
    """Why a server cannot be taken over."""


def native_of(raw: RawServer) -> tuple[Entry, tuple[str, ...]]:
    """The server without its name, and the fields that are lost. Raises Unusable."""
    entry = _flat(raw.entry)
    kind = str(entry.get("type", ""))
    if kind in _OTHER_KINDS:
        raise Unusable(_OTHER_KINDS[kind])
    words, url = _words(entry), _first(entry, _URLS)
    bridge = _behind_bridge(words)
    if bridge is not None:
        url, headers = bridge
        words, entry = [], {**entry, "headers": headers, "type": "http"}
    if words:
        _check_program(words[0])
        native = _local(entry, words, raw)
    elif isinstance(url, str):
        native = _remote(entry, url, raw)
    else:
        raise Unusable("has neither a command nor a URL")
    native |= _common(entry, raw)
    return native, tuple(key for key, part in raw.entry.items() if part and key not in _READ)


def _flat(entry: Entry) -> Entry:
    """Without the inner objects that some clients have around program or transport."""
    inner = entry.get("transport")
    if isinstance(inner, dict):
        entry = {**{key: part for key, part in entry.items() if key != "transport"}, **inner}
    program = entry.get("command")
    if isinstance(program, dict):
        entry = {**entry, **program, "command": program.get("path")}
    return entry


def _first(entry: Entry, keys: tuple[str, ...]) -> Any:
    return next((entry[key] for key in keys if entry.get(key)), None)


def _words(entry: Entry) -> list[str]:
    command = entry.get("command") or entry.get("cmd")
    args = entry.get("args")
    words = [str(word) for word in (args if isinstance(args, list) else [])]
    if isinstance(command, list):
        words = [*map(str, command), *words]
    elif isinstance(command, str):
        words = [*_split(command, entry), *words]
    if [word.lower() for word in words[:2]] in (["cmd", "/c"], ["cmd.exe", "/c"]) and os.sep == "/":
        words = words[2:]
    return words


def _check_program(command: str) -> None:
    """Raises Unusable for what cannot be the name of a file."""
    try:
        is_possible = "\0" not in command and bool(os.fsencode(command))
    except UnicodeEncodeError:
        is_possible = False
    if not is_possible:
        raise Unusable("has a command that no system could start")


def _split(command: str, entry: Entry) -> list[str]:
    """Vibe's command is a shell's line; everybody else's is one word, blanks and all."""
    if not isinstance(entry.get("transport"), str) or "args" in entry:
        return [command]
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _behind_bridge(words: list[str]) -> tuple[str, Entry] | None:
    """`npx -y mcp-remote URL --header "K: V"` is a program around a server that we can reach."""
    names = [os.path.basename(word).partition("@")[0] for word in words]
    if "mcp-remote" not in names or not {"npx", "bunx", "mcp-remote"} & set(names[:1]):
        return None
    rest = words[names.index("mcp-remote") + 1 :]
    urls = [word for word in rest if word.startswith(("http://", "https://"))]
    if not urls:
        return None
    headers: Entry = {}
    for flag, value in pairwise(rest):
        if flag == "--header" and ":" in value:
            name, _, text = value.partition(":")
            headers[name.strip()] = text.strip()
    return urls[0], headers


def _local(entry: Entry, words: list[str], raw: RawServer) -> Entry:
    command, *args = words
    stdio: Entry = {"command": command, **({"args": args} if args else {})}
    folder = entry.get("cwd") or raw.file.project
    if folder:
        stdio["cwd"] = os.path.join(raw.file.project, folder) if raw.file.project else folder
    native: Entry = {"stdio": stdio}
    env = dict(_environment(entry))
    return {**native, "env": env} if env else native


def _environment(entry: Entry) -> Iterator[tuple[str, str]]:
    values = _first(entry, _ENVIRONMENTS)
    for name, value in (values if isinstance(values, dict) else {}).items():
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield name, text or f"${{{name}}}"  # empty: passed on
    for key in _PASSED_ON:
        names = entry.get(key)
        for name in names if isinstance(names, list) else []:
            yield str(name), f"${{{name}}}"


def _remote(entry: Entry, url: str, raw: RawServer) -> Entry:
    native: Entry = {"url": url}
    headers = dict(_headers(entry))
    if headers:
        native["headers"] = headers
    transport = _transport(entry, raw)
    return {**native, "transport": transport} if transport else native


def _headers(entry: Entry) -> Iterator[tuple[str, str]]:
    options = entry.get("requestOptions")
    nested = options.get("headers") if isinstance(options, dict) else None
    for headers in (_first(entry, _HEADERS), nested):
        for name, value in (headers if isinstance(headers, dict) else {}).items():
            yield str(name), str(value)
    variables = entry.get("env_http_headers")
    for name, variable in (variables if isinstance(variables, dict) else {}).items():
        yield str(name), f"${{{variable}}}"
    for variable in (entry.get("bearer_token_env_var"), entry.get("bearerTokenEnvVar")):
        if variable:
            yield "Authorization", f"Bearer ${{{variable}}}"
    if entry.get("apiKey"):
        yield "Authorization", f"Bearer {entry['apiKey']}"
    auth = entry.get("auth")
    static = {**entry, **(auth if isinstance(auth, dict) else {})}
    if static.get("api_key_env"):
        text = str(static.get("api_key_format") or "Bearer {token}")
        variable = f"${{{static['api_key_env']}}}"
        yield (
            str(static.get("api_key_header") or "Authorization"),
            text.replace("{token}", variable),
        )


def _transport(entry: Entry, raw: RawServer) -> str | None:
    word = str(entry.get("type") or entry.get("transportType") or entry.get("transport") or "")
    if not word:
        means = "http" if entry.get("httpUrl") else raw.file.client.url_means
        return {"http": "streamablehttp", "sse": "sse"}.get(means)
    transport = _TRANSPORTS.get(re.sub(r"[-_]", "", word).lower())
    if transport is None:
        raise Unusable(f"has a transport that is not known here: {word}")
    return transport


def _common(entry: Entry, raw: RawServer) -> Entry:
    native: Entry = {"expose": _tools(entry) or "all"}
    if isinstance(entry.get("description"), str) and entry["description"]:
        native["description"] = entry["description"]
    seconds = _seconds(entry, raw)
    if seconds is not None:
        native["timeoutSecs"] = seconds
    is_off = raw.off or entry.get("disabled") is True
    if is_off or any(entry.get(key) is False for key in ("enabled", "isActive", "autoStart")):
        native["disabled"] = f"off in {raw.file.client.title}"
    return native


def _tools(entry: Entry) -> list[str]:
    names = _first(entry, _TOOLS)
    tools = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return [] if "*" in tools else tools


def _seconds(entry: Entry, raw: RawServer) -> float | None:
    for key in _TIMEOUTS:
        value = entry.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            in_seconds = key.endswith("_sec") or (key == "timeout" and raw.file.client.seconds)
            if raw.file.client.id == "file" and key == "timeout":
                in_seconds = value < 1000
            return value if in_seconds else value / 1000
    return None
