"""A registry as it may be shown: native, every value that could be a secret masked."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry.format.model import Registry
from toolyard.telemetry import MASK, Mask, each_text

# A reference says where a value comes from and nothing of the value.
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")


def shown(registry: Registry) -> JsonObject:
    """The registry for the page, an endpoint or a terminal."""
    return masked(registry.raw)


def masked(native: JsonObject) -> JsonObject:
    """A copy with the values of env, headers, defaults, arguments and URL queries masked."""
    copy = dict(native)
    for key, mask in (("servers", _server), ("tools", _tool)):
        entries = native.get(key)
        if isinstance(entries, list):
            copy[key] = [mask(entry) if isinstance(entry, dict) else MASK for entry in entries]
    return copy


def masked_values(value: Json, secrets: frozenset[str]) -> Json:
    """A copy to be shown: no text in it came from a variable, however short."""
    mask = Mask(secrets)

    def without_secrets(text: str) -> str:
        return MASK if text in secrets and text else mask(text)

    return each_text(value, without_secrets, mask)


def _server(server: JsonObject) -> JsonObject:
    copy = dict(server)
    for key in ("env", "headers"):
        if key in copy:
            copy[key] = _values(copy[key])
    if isinstance(copy.get("stdio"), dict) and "args" in copy["stdio"]:
        copy["stdio"] = {**copy["stdio"], "args": _values(copy["stdio"]["args"])}
    elif "stdio" in copy and not isinstance(copy["stdio"], dict):
        copy["stdio"] = _values(copy["stdio"])
    if "url" in copy:
        copy["url"] = _url(copy["url"]) if isinstance(copy["url"], str) else _values(copy["url"])
    return copy


def _tool(tool: JsonObject) -> JsonObject:
    return {**tool, "defaults": _values(tool["defaults"])} if "defaults" in tool else tool


def _values(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _values(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_values(element) for element in value]
    return value if isinstance(value, str) and _REFERENCE.fullmatch(value) else MASK


def _url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return MASK
    place = parts.netloc.rpartition("@")
    netloc = f"{MASK}@{place[2]}" if place[1] else parts.netloc
    names = [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    query = "&".join(f"{name}={MASK}" for name in names)
    return urlunsplit((parts.scheme, netloc, parts.path, query, ""))
