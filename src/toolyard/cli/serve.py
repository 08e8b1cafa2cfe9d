"""toolyard serve: over stdio, or over HTTP with --http."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from toolyard.app.early_greeting import greet_early, take_stdout
from toolyard.cli.options import Chosen, add_project, choose, identity_of
from toolyard.errors import ConfigError
from toolyard.protocol.handshake import Answered
from toolyard.protocol.identity import Identity
from toolyard.protocol.manner import manner_of
from toolyard.protocol.paging import page_size
from toolyard.settings import Settings
from toolyard.sources.project.layout import REGISTRY_FILE, project_at

if TYPE_CHECKING:
    from toolyard.app.plan import Plan
    from toolyard.sources.project.discover.scan import Scan

SHORTEST_REMOTE_TOKEN = 32


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="*",
        help="a project folder and registry files (default: MCPBASH_PROJECT_ROOT, then the "
        "project that you are in)",
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--http", metavar="[HOST:]PORT", help="serve over HTTP (HOST: 127.0.0.1)")
    way.add_argument("--stdio", action="store_true", help="serve over stdin and stdout (default)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="also answer to this Host"
    )
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="URL", help="also allow this Origin"
    )
    parser.add_argument("--no-page", action="store_true", help="serve /mcp alone, without the page")
    parser.add_argument(
        "--locked",
        action="store_true",
        help="offer only what is as registry.lock.json has it (see 'registry lock')",
    )
    add_project(parser)
    parser.set_defaults(debug=False)


def run(options: Namespace) -> int:
    chosen = choose(options)
    if chosen.project is not None or chosen.registries:
        return _serve(options, chosen)
    # Only where there is nothing to serve: a start with a project does not pay for it.
    from toolyard.app.getting_started import temporary_project  # noqa: PLC0415

    with temporary_project(options) as root:
        return _serve(options, _explained(chosen, root))


def _explained(chosen: Chosen, root: str) -> Chosen:
    """The one tool there is may be called, whatever holds for those of a project."""
    settings = chosen.settings.replace(
        tool_allowlist=(), tool_allow_default="allow", static_registry=True
    )
    return Chosen(settings, project_at(root, Settings()))


def _serve(options: Namespace, chosen: Chosen) -> int:
    settings = chosen.settings
    if 0 < len(settings.remote_token) < SHORTEST_REMOTE_TOKEN:
        print(f"MCPBASH_REMOTE_TOKEN needs {SHORTEST_REMOTE_TOKEN} characters", file=sys.stderr)
        return 1
    if options.debug or settings.debug_payloads or settings.trace_tools:
        # Nobody who debugs minds what this costs a start.
        from toolyard.cli.logs import with_debugging  # noqa: PLC0415

        chosen = with_debugging(options, chosen)
    if settings.ci_mode:
        from toolyard.cli.logs import with_ci_logs  # noqa: PLC0415 - as above

        chosen = with_ci_logs(options, chosen)
    identity = identity_of(chosen)
    if options.http is not None:
        return _over_http(options, chosen, identity)
    return _over_stdio(options, chosen, identity)


def _over_stdio(options: Namespace, chosen: Chosen, identity: Identity) -> int:
    stdout = take_stdout()
    answered = Answered()
    # Where a token is demanded, `initialize` has to carry it; where all is logged, it is too.
    if not chosen.settings.remote_token and not chosen.settings.debug_payloads:
        manner = manner_of(like_mcp_bash=options.like_mcp_bash)
        answered = greet_early(identity, 0, stdout, manner)
    scanned = None
    if (
        answered.revision is not None
        and chosen.project is not None
        and _lists_alone(chosen, options)
    ):
        # Lists need less than calls do, and are asked for first.
        from toolyard.app.early_list import list_early  # noqa: PLC0415

        size = page_size(chosen.settings.page_size, small=options.like_mcp_bash)
        answered, scanned = list_early(answered, chosen.project, chosen.settings, size, (0, stdout))
    # The client has its answers: only now is the rest of the program loaded.
    from toolyard.app import over_stdio as stdio  # noqa: PLC0415

    return stdio.serve(_plan(options, chosen, identity, scanned), answered, stdout)


def _lists_alone(chosen: Chosen, options: Namespace) -> bool:
    """Only a project: no registry over it, nothing that needs more than a scan."""
    settings, project = chosen.settings, chosen.project
    if project is None or chosen.registries or settings.static_registry or settings.force_minimal:
        return False
    if settings.rules or settings.limits or settings.audit_log:
        return False
    return not options.locked and not os.path.exists(os.path.join(project.root, REGISTRY_FILE))


def _over_http(options: Namespace, chosen: Chosen, identity: Identity) -> int:
    host, port = http_address(options.http)
    # The HTTP server takes a third of a second to import: no other command pays for it.
    from toolyard.app import over_http as http  # noqa: PLC0415

    address = http.Address(
        host,
        port,
        tuple(options.allow_host),
        tuple(options.allow_origin),
        page=not options.no_page,
    )
    return http.serve(_plan(options, chosen, identity), address)


def _plan(
    options: Namespace, chosen: Chosen, identity: Identity, scanned: Scan | None = None
) -> Plan:
    # As above: the composition root imports everything that serves.
    from toolyard.app.plan import Plan  # noqa: PLC0415
    from toolyard.cli.logs import start_logging  # noqa: PLC0415

    start_logging(options, chosen)
    return Plan(
        chosen.settings,
        identity,
        chosen.project,
        chosen.registries,
        like_mcp_bash=options.like_mcp_bash,
        own_client=options.http is None,
        scan=scanned,
        by_lock=options.locked,
    )


def http_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise ConfigError.at("--http", f"expected [HOST:]PORT, not {text!r}")
    return host.strip("[]") or "127.0.0.1", int(port)
