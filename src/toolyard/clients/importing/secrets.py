"""Secrets inside of entries: found, and replaced by variables. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit, urlunsplit

from toolyard.telemetry import each_text

_KEY = re.compile(
    r"(?i)token|secret|(?<!public)key|passw|(?:^|[-_])pat(?:$|[-_])|credential|auth|cookie|dsn|"
    r"connection|private"
)
_PREFIX = re.compile(
    r"^(?:sk-|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|ya29\.|eyJ|npm_|hf_|lin_api_|ntn_|"
    r"-----BEGIN|shpat_|sntrys_|pat-|dop_v1_)"
)
# Tokens that can be told from any text, wherever they stand in it.
_EMBEDDED = re.compile(
    r"sk-[\w-]{12,}|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}|xox[a-z]-[\w-]{10,}|"
    r"AKIA[0-9A-Z]{12,}|AIza[\w-]{20,}|eyJ[\w-]+\.[\w-]+\.[\w-]+|npm_\w{20,}|hf_\w{16,}|"
    r"lin_api_\w{12,}|ntn_\w{16,}"
)
_SCHEME = re.compile(r"(?i)^((?:bearer|basic|token)\s+)(.+)$", re.DOTALL)
_PLACEHOLDER = re.compile(r"(?i)^(?:<.*>|\.\.\.|x{3,}|\*+|your[-_ ].*|.*[-_ ]here|changeme|todo)$")
_REFERENCE = re.compile(r"\$\{[^}]*\}")
_URL_WITH_SECRET = re.compile(r"^[a-z][a-z0-9+.-]*://[^/\s@]+:[^/\s@]+@", re.IGNORECASE)
_LONG = re.compile(r"^(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9+/_=-]{24,}$")
_OPEN_HEADERS = {"accept", "content-type", "user-agent", "accept-language", "cache-control"}
_PATHS = ("/", "./", "~", "C:", "@")


def is_secret(key: str, text: str) -> bool:
    """By the name of its place, or by the look of it."""
    if not text or _REFERENCE.fullmatch(text) or text.startswith(_PATHS):
        return bool(_PREFIX.match(text))
    looks = _PREFIX.match(text) or _URL_WITH_SECRET.match(text) or _LONG.match(text)
    return bool(looks) or (bool(_KEY.search(key)) and not _is_plain(text))


def _is_plain(text: str) -> bool:
    """Switches and numbers are not secrets, whatever they are called."""
    return text.lower() in ("true", "false", "none", "yes", "no", "on", "off") or text.isdecimal()


@dataclass(slots=True)
class SecretVariables:
    """Every secret that was replaced, by the variable that stands for it."""

    values: dict[str, str] = field(default_factory=dict)
    # SecretVariables that the user has to set, and why.
    unset: dict[str, str] = field(default_factory=dict)

    def replaced(self, server: str, key: str, text: str) -> str:
        """The text with its secret replaced; what surrounds the secret stays."""
        scheme = _SCHEME.match(text)
        if scheme is not None:
            return scheme[1] + self.replaced(server, f"{key}_TOKEN", scheme[2])
        if _REFERENCE.search(text):
            return text
        if _PLACEHOLDER.match(text):
            name = self._free(server, key, "")
            self.unset[name] = "a placeholder stood there"
            return f"${{{name}}}"
        return f"${{{self._name_for(server, key, text)}}}"

    def _name_for(self, server: str, key: str, value: str) -> str:
        for name, secret in self.values.items():
            if secret == value:
                return name
        name = self._free(server, key, value)
        self.values[name] = value
        return name

    def _free(self, server: str, key: str, value: str) -> str:
        own = _variable(key)
        candidates = [own] if _is_telling(key) else []
        candidates += [_variable(f"{server}_{key}")]
        candidates += [_variable(f"{server}_{key}_{number}") for number in range(2, 1000)]
        return next(
            name
            for name in candidates
            if self.values.get(name, value) == value and (value or name not in self.values)
        )


def _is_telling(key: str) -> bool:
    """Is it the name of a variable already, as the keys of `env` are?"""
    return re.fullmatch(r"[A-Z][A-Z0-9_]*_[A-Z0-9_]+", key) is not None


def _variable(text: str) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").upper() or "SECRET"
    return f"_{name}" if name[0].isdigit() else name


def without_secrets(
    name: str, native: dict[str, Any], variables: SecretVariables
) -> dict[str, Any]:
    """The server with a variable in the place of each secret."""
    server = dict(native)
    if "env" in server:
        server["env"] = {
            key: variables.replaced(name, key, text) if is_secret(key, text) else text
            for key, text in server["env"].items()
        }
    if "headers" in server:
        server["headers"] = {
            key: text if key.lower() in _OPEN_HEADERS else variables.replaced(name, key, text)
            for key, text in server["headers"].items()
        }
    if "url" in server:
        server["url"] = _url(name, server["url"], variables)
    if "stdio" in server and "args" in server["stdio"]:
        args = list(_args(name, server["stdio"]["args"], variables))
        server["stdio"] = {**server["stdio"], "args": args}

    def swept(text: str) -> str:
        return _EMBEDDED.sub(lambda match: variables.replaced(name, "SECRET", match[0]), text)

    return dict(each_text(server, swept))


def secrets_among(words: list[str]) -> Iterable[str]:
    """Those inside of a command's arguments, or of a URL."""
    variables = SecretVariables()
    for _ in _args("", words, variables):
        pass
    return variables.values.values()


def _url(name: str, url: str, variables: SecretVariables) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    place, at, host = parts.netloc.rpartition("@")
    if at and not _REFERENCE.search(place):
        host = f"{variables.replaced(name, 'URL_USER', place)}@{host}"
    else:
        host = parts.netloc
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = "&".join(f"{quote(key)}={_parameter(name, key, t, variables)}" for key, t in pairs)
    path = "/".join(
        variables.replaced(name, "URL_PART", part) if _PREFIX.match(part) else part
        for part in parts.path.split("/")
    )
    return urlunsplit((parts.scheme, host, path, query, parts.fragment))


def _parameter(name: str, key: str, text: str, variables: SecretVariables) -> str:
    if is_secret(key, text):
        return variables.replaced(name, key, text)
    return quote(text, safe="${}:-")


def _args(name: str, args: list[str], variables: SecretVariables) -> Iterator[str]:
    before = ""
    for arg in args:
        yield _arg(name, before, arg, variables)
        before = arg


def _arg(name: str, before: str, arg: str, variables: SecretVariables) -> str:
    key, equals, text = arg.partition("=")
    if equals and re.fullmatch(r"-{0,2}[A-Za-z][\w.-]*", key) and is_secret(key, text):
        return f"{key}={variables.replaced(name, key.lstrip('-'), text)}"
    header, colon, text = arg.partition(":")
    if before in ("-H", "--header") and colon and header.lower() not in _OPEN_HEADERS:
        return f"{header}: {variables.replaced(name, header, text.strip())}"
    if arg.startswith(("http://", "https://")):
        return _url(name, arg, variables)
    flag = before.lstrip("-") if before.startswith("-") and "=" not in before else ""
    if not arg.startswith("-") and is_secret(flag, arg) and not _is_package(arg):
        return variables.replaced(name, flag or "ARG", arg)
    return arg


def _is_package(arg: str) -> bool:
    """A package, a host or a file is long and mixed as well."""
    is_plain = bool(re.fullmatch(r"[a-z0-9._/@:-]+", arg))
    return is_plain and not _PREFIX.match(arg) and not _URL_WITH_SECRET.match(arg)
