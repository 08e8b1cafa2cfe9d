"""toolyard page: the page over another running gateway, ours or an agentgateway."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from argparse import ArgumentParser, Namespace
from dataclasses import replace

from toolyard.app.page.other_gateway import SERVER, TOKEN, Other, look_at
from toolyard.app.plan import Plan
from toolyard.app.serving.over_http import serve
from toolyard.app.workers.address import Address
from toolyard.cli.options import add_project
from toolyard.cli.serve import http_address
from toolyard.errors import ConfigError
from toolyard.protocol.identity import Identity
from toolyard.settings import load
from toolyard.telemetry import set_up


def add(parser: ArgumentParser) -> None:
    parser.epilog = f"If the gateway needs a token, put it into {TOKEN}."
    parser.add_argument(
        "--gateway", required=True, metavar="URL", help="its MCP endpoint, as clients use it"
    )
    parser.add_argument(
        "--gateway-registry",
        metavar="URL|FILE",
        help="its registry (default: /registry on the same server)",
    )
    parser.add_argument("--http", default="8081", metavar="[HOST:]PORT", help="where to serve it")
    add_project(parser)


def run(options: Namespace) -> int:
    if not options.gateway.startswith(("http://", "https://")):
        raise ConfigError.at("--gateway", f"expected an http(s) URL, not {options.gateway!r}")
    set_up(options.log_level or "info", options.log_format)
    gateway = asyncio.run(look_at(options.gateway, options.gateway_registry))
    with tempfile.TemporaryDirectory(prefix="toolyard-page-") as folder:
        host, port = http_address(options.http)
        return serve(plan_of(gateway, folder, options.config), Address(host, port, gateway=gateway))


def plan_of(gateway: Other, folder: str, config: str | None) -> Plan:
    """A registry of one server: everything that the other gateway serves."""
    path = os.path.join(folder, "registry.json")
    server = {"name": SERVER, "url": gateway.url, "transport": "http", "expose": "all"}
    if os.environ.get(TOKEN):
        server = {**server, "headers": {"Authorization": f"Bearer ${{{TOKEN}}}"}}  # type: ignore[dict-item]
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"servers": [server]}, stream)
    settings = load(file=config).replace(page_read_only=True)
    identity = Identity({"name": SERVER, "version": "0.0.0", "title": f"{gateway.kind} gateway"})
    return replace(Plan(settings, identity), registries=(path,))
