"""toolyard token: make, list and revoke the static tokens of `toolyard.json`."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime, timedelta
from typing import Any

from toolyard.access.tokens import hash_of, new_token, read_tokens
from toolyard.errors import ConfigError
from toolyard.files.objects import read_object
from toolyard.files.whole import alone_in, rewrite
from toolyard.settings import FILE_NAME

_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def add(parser: ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="action", required=True, metavar="new|list|revoke")
    new = commands.add_parser("new", help="make a token and print it, once")
    new.add_argument("name", help="who will use it; rules and the audit log use this name")
    new.add_argument("--expires", metavar="90d", help="hours (h), days (d) or weeks (w)")
    for kind in ("tool", "resource", "prompt"):
        new.add_argument(
            f"--{kind}", action="append", metavar="GLOB", help=f"allow these {kind}s (repeatable)"
        )
    commands.add_parser("list", help="show the names and expiry of all tokens")
    revoke = commands.add_parser("revoke", help="revoke a token")
    revoke.add_argument("name")
    for command in commands.choices.values():
        command.add_argument("--config", metavar="FILE", help=f"default: {FILE_NAME} here")


def run(options: Namespace) -> int:
    path = options.config or FILE_NAME
    try:
        with alone_in(os.path.dirname(path)):  # nobody else may write between read and write
            return int(_ACTIONS[options.action](options, path, _read(path)))
    except FileNotFoundError:
        raise ConfigError.at(path, "its folder does not exist") from None


def _new(options: Namespace, path: str, content: dict[str, Any]) -> int:
    entry: dict[str, Any] = {"name": options.name}
    token = new_token()
    entry["hash"] = hash_of(token)
    if options.expires:
        entry["expires"] = _expiry(options.expires)
    for kind in ("tool", "resource", "prompt"):
        if getattr(options, kind):
            entry[f"{kind}s"] = getattr(options, kind)
    tokens = [*content.get("tokens", []), entry]
    read_tokens(tokens, path)
    _write(path, {**content, "tokens": tokens})
    print(f"Stored as a hash in {path}; it is shown only once:", file=sys.stderr)
    print(token)
    return 0


def _list(options: Namespace, path: str, content: dict[str, Any]) -> int:
    for token in read_tokens(content.get("tokens", []), path):
        ends = datetime.fromtimestamp(token.expires, UTC) if token.expires else None
        print(f"{token.name}\t{ends.date().isoformat() if ends else 'does not expire'}")
    return 0


def _revoke(options: Namespace, path: str, content: dict[str, Any]) -> int:
    tokens = content.get("tokens", [])
    remaining = [entry for entry in tokens if entry.get("name") != options.name]
    if len(remaining) == len(tokens):
        print(f"{path} has no token named {options.name!r}", file=sys.stderr)
        return 1
    _write(path, {**content, "tokens": remaining})
    return 0


_ACTIONS = {"new": _new, "list": _list, "revoke": _revoke}


def _expiry(text: str) -> str:
    unit = _UNITS.get(text[-1:])
    if unit is None or not text[:-1].isdecimal() or int(text[:-1]) == 0:
        raise ConfigError.at("--expires", f"expected a number and h, d or w, not {text!r}")
    return (datetime.now(UTC) + int(text[:-1]) * unit).isoformat(timespec="seconds")


def _read(path: str) -> dict[str, Any]:
    if not os.path.exists(path):
        return {}
    content = read_object(path)
    if not isinstance(content.get("tokens", []), list):
        raise ConfigError.at(path, "must be a list", "/tokens")
    return content


def _write(path: str, content: dict[str, Any]) -> None:
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    try:
        rewrite(path, text.encode())
    except OSError as error:
        raise ConfigError.at(path, f"cannot be written: {error.strerror}") from None
