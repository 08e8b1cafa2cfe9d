"""Another MCP server, named on a command line: a registry's server, a URL or a command."""

from __future__ import annotations

import os
import re
import shlex
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from toolyard.cli.options import add_registry
from toolyard.errors import ConfigError
from toolyard.processes.ending.guard import Guard
from toolyard.sources.project.layout import REGISTRY_FILE, find_root
from toolyard.sources.registry.format.load import load_registry
from toolyard.telemetry import set_up
from toolyard.upstreams.conversation.running import Limits
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.pool import Pool
from toolyard.upstreams.setup import Setup

_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(.*)")


def add_peer(parser: ArgumentParser) -> None:
    add_registry(parser)
    parser.add_argument(
        "--header", action="append", default=[], metavar="'N: V'", help="sent to a URL"
    )
    parser.add_argument(
        "--env", action="append", default=[], metavar="N=V", help="given to a command"
    )
    parser.add_argument(
        "--timeout", type=float, default=60.0, metavar="SECS", help="how long it may take to start"
    )
    parser.add_argument("--log-level", default="error", help="debug, info, warning or error")


def definition_of(words: Sequence[str], options: Namespace) -> ServerDefinition:
    """A single word may be a name, a URL or a whole command; several words are a command."""
    set_up(options.log_level)
    if len(words) == 1:
        if words[0].startswith(("http://", "https://")):
            return ServerDefinition(words[0], url=words[0], headers=_headers(options.header))
        definition = _in_registry(words[0], options.registry)
        if definition is not None:
            return definition
        words = _split(words[0])
    command, *args = words
    env = _variables(options.env)
    return ServerDefinition(command, command=command, args=tuple(args), env=env, transport="stdio")


def _in_registry(name: str, files: Sequence[str]) -> ServerDefinition | None:
    root = find_root(os.getcwd())
    own = os.path.join(root, REGISTRY_FILE) if root is not None else REGISTRY_FILE
    for path in files or ([own] if os.path.isfile(own) else []):
        definition = load_registry(path, os.environ).server(name)
        if definition is not None:
            return definition
    return None


def _split(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError.at(command, f"is not a command: {error}") from None
    if not words:
        raise ConfigError.at("SERVER", "which one? give a name, a URL or a command")
    return words


def _headers(texts: Sequence[str]) -> dict[str, str]:
    matches = {text: _HEADER.fullmatch(text) for text in texts}
    for text, match in matches.items():
        if match is None:
            raise ConfigError.at("--header", f"expected 'NAME: VALUE', not {text!r}")
    return {match[1]: match[2] for match in matches.values() if match is not None}


def _variables(texts: Sequence[str]) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise ConfigError.at("--env", f"expected NAME=VALUE, not {text!r}")
    return dict(text.split("=", 1) for text in texts)


@asynccontextmanager
async def connected(definition: ServerDefinition, timeout: float) -> AsyncIterator[Pool]:
    """A pool with this one server, which is gone afterwards, however we end."""
    guard = Guard(None)
    pool = Pool([definition], Setup(limits=Limits(start=timeout), guard=guard))
    try:
        yield pool
    finally:
        try:
            await pool.close()
        finally:
            await guard.close()
