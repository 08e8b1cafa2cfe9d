"""toolyard serve: over stdio, or over HTTP with --http."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from toolyard.app.early.greeting import answer_to, greet_early, take_stdout
from toolyard.cli.options import Chosen, add_project, choose, identity_of
from toolyard.errors import ConfigError
from toolyard.protocol.eras.handshake import Answered
from toolyard.protocol.eras.manner import manner_of
from toolyard.protocol.identity import Identity
from toolyard.protocol.paging import page_size
from toolyard.settings import Settings
from toolyard.sources.project.layout import REGISTRY_FILE, project_at, registry_paths

if TYPE_CHECKING:
    from toolyard.app.early.welcome import Welcome
    from toolyard.app.plan import Plan
    from toolyard.app.workers.address import Address
    from toolyard.app.workers.crew import Worker
    from toolyard.sources.project.discover.scan import Scan

SHORTEST_REMOTE_TOKEN = 32
MOST_WORKERS = 64
# For a person who starts it by hand: nothing else would ever appear.
_WAITING = """\
{name} is served over stdin and stdout: it waits for a client that writes JSON-RPC lines.
  in a browser:  {program} serve --http 8080
  one call:      {program} run-tool NAME --args '{{}}'
  for a client:  {program} config
Ctrl-C or Ctrl-D ends it."""


def add(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="*",
        help="a project folder and registry files (default: MCPBASH_PROJECT_ROOT, then the "
        "project of the current folder)",
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
    parser.add_argument(
        "--workers",
        type=_number_of_workers,
        default=1,
        metavar="N|auto",
        help="serve HTTP with this many processes (auto: one per core; default: 1)",
    )
    _add_replicas(parser)
    parser.add_argument(
        "--env-file", metavar="FILE", help="variables for the registry: NAME=value lines, mode 600"
    )
    parser.add_argument("--no-page", action="store_true", help="serve /mcp alone, without the page")
    parser.add_argument(
        "--locked",
        action="store_true",
        help="offer only what matches registry.lock.json (see 'registry lock')",
    )
    parser.add_argument(
        "--view", metavar="NAME", help="which tools are listed: full (default), index or search"
    )
    parser.add_argument(
        "--budget", metavar="TOKENS", help="in place of --view: the fullest view that fits"
    )
    add_project(parser)
    parser.set_defaults(debug=False)


def _add_replicas(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        metavar="URL",
        help="share sessions with other replicas through this Redis, as redis://HOST:PORT "
        "(needs TOOLYARD_CLUSTER_KEY)",
    )
    parser.add_argument(
        "--peer",
        metavar="[HOST:]PORT",
        help="where other replicas reach this one (default: any port, on the way to the store)",
    )


def run(options: Namespace) -> int:
    if options.workers != 1 and options.http is None:
        raise ConfigError.at("--workers", "a stdio server has one client: it needs --http")
    if options.store and options.http is None:
        raise ConfigError.at("--store", "a stdio server shares nothing: it needs --http")
    if options.env_file is not None:
        # Only for those who have one.
        from toolyard.cli.env_file import load_env_file  # noqa: PLC0415

        load_env_file(options.env_file)
    choice = _with_view(choose(options), options)
    if choice.project is not None or choice.registries:
        return _serve(options, choice)
    # Only where there is nothing to serve: a start with a project does not pay for it.
    from toolyard.app.serving.getting_started import temporary_project  # noqa: PLC0415

    with temporary_project(options) as root:
        return _serve(options, _starter(choice, root))


def _with_view(choice: Chosen, options: Namespace) -> Chosen:
    if options.view is None and options.budget is None:
        return choice
    if options.budget is not None and not options.budget.isdecimal():
        raise ConfigError.at("--budget", f"expected a number of tokens, not {options.budget!r}")
    settings = choice.settings.replace(view=options.view or "", budget=int(options.budget or 0))
    return choice._replace(settings=settings)


def _starter(choice: Chosen, root: str) -> Chosen:
    """The project that explains how to begin. Its only tool is allowed, whatever the settings."""
    settings = choice.settings.replace(
        tool_allowlist=(), tool_allow_default="allow", static_registry=True
    )
    return Chosen(settings, project_at(root, Settings()))


def _serve(options: Namespace, choice: Chosen) -> int:
    settings = choice.settings
    if 0 < len(settings.remote_token) < SHORTEST_REMOTE_TOKEN:
        print(
            f"MCPBASH_REMOTE_TOKEN needs {SHORTEST_REMOTE_TOKEN} characters or more",
            file=sys.stderr,
        )
        return 1
    if options.debug or settings.debug_payloads or settings.trace_tools:
        # Imported here: only those who debug should pay for it.
        from toolyard.cli.logs import with_debugging  # noqa: PLC0415

        choice = with_debugging(options, choice)
    if settings.ci_mode:
        from toolyard.cli.logs import with_ci_logs  # noqa: PLC0415 - as above

        choice = with_ci_logs(options, choice)
    identity = identity_of(choice)
    if options.http is not None:
        return _over_http(options, choice, identity)
    return _over_stdio(options, choice, identity)


def _over_stdio(options: Namespace, choice: Chosen, identity: Identity) -> int:
    if os.isatty(0):
        print(_WAITING.format(name=identity.info["name"], program=options.program), file=sys.stderr)
    stdout = take_stdout()
    answers = Answered()
    # Not where a token is needed, which `initialize` has to carry, nor where everything is logged.
    # A person at a terminal is in no hurry, and an end of input typed there is read only once.
    if not (choice.settings.remote_token or choice.settings.debug_payloads or os.isatty(0)):
        manner = manner_of(like_mcp_bash=options.like_mcp_bash)
        answers = greet_early(_as_known(identity, choice), 0, stdout, manner)
    scan = None
    if (
        answers.revision is not None
        and choice.project is not None
        and _lists_alone(choice, options)
    ):
        # Lists need less than calls do, and are asked for first.
        from toolyard.app.early.listing import list_early  # noqa: PLC0415

        size = page_size(choice.settings.page_size, small=options.like_mcp_bash)
        answers, scan = list_early(answers, choice.project, choice.settings, size, (0, stdout))
    # The client has its first answers: only now is the rest of the program loaded.
    from toolyard.app.serving import over_stdio as stdio  # noqa: PLC0415

    return stdio.serve(_plan(options, choice, identity, scan), answers, stdout)


def _as_known(identity: Identity, choice: Chosen) -> Identity:
    """With what other servers told us the last time: there is no time to ask them."""
    paths = registry_paths(choice.project, choice.registries)
    if not paths or choice.settings.force_minimal:
        return identity
    # Only a gateway needs it.
    from toolyard.app.kept_instructions import recall  # noqa: PLC0415

    own = identity.instructions
    return identity._replace(instructions=recall(paths, choice.settings, own) or own)


def _lists_alone(choice: Chosen, options: Namespace) -> bool:
    """Is it a project without a registry, and without settings that need more than a scan?"""
    settings, project = choice.settings, choice.project
    if project is None or choice.registries or settings.static_registry or settings.force_minimal:
        return False
    if settings.rules or settings.limits or settings.audit_log:
        return False
    if settings.view or settings.budget or settings.result_limit:
        return False
    return not options.locked and not os.path.exists(os.path.join(project.root, REGISTRY_FILE))


def _over_http(options: Namespace, choice: Chosen, identity: Identity) -> int:
    # It needs `socket`, which no stdio server waits for.
    from toolyard.app.workers.address import Address  # noqa: PLC0415

    address = Address(
        *http_address(options.http),
        tuple(options.allow_host),
        tuple(options.allow_origin),
        page=not options.no_page,
    )
    welcome = _welcome(options, choice, identity, address)

    def work(worker: Worker | None = None) -> int:
        # The HTTP server takes a quarter of a second to import: no other command pays for it.
        from toolyard.app.serving import over_http as http  # noqa: PLC0415

        return http.serve(_plan(options, choice, identity), address, worker, welcome)

    if options.workers == 1:
        return work()
    # Whoever serves with one process needs none of it.
    from toolyard.app.workers.crew import supervise  # noqa: PLC0415
    from toolyard.cli.logs import start_logging  # noqa: PLC0415

    start_logging(options, choice)
    drain = choice.settings.drain_pause + choice.settings.shutdown_timeout
    return supervise(options.workers, address.bind(), work, drain)


def _welcome(
    options: Namespace, choice: Chosen, identity: Identity, address: Address
) -> Welcome | None:
    """Who answers while the server is imported, if anybody may."""
    if options.workers != 1:
        return None
    # A supervisor carries none of it around.
    from toolyard.app.early.welcome import Welcome, may_welcome  # noqa: PLC0415

    if not may_welcome(choice.settings, address.host):
        return None
    known, manner = _as_known(identity, choice), manner_of(like_mcp_bash=options.like_mcp_bash)

    def answer(message: bytes) -> bytes | None:
        found = answer_to(known, message, manner)
        return found[1] if found is not None else None

    welcome = Welcome(address.listen(), address.guard, answer)
    welcome.begin()
    return welcome


def _plan(options: Namespace, choice: Chosen, identity: Identity, scan: Scan | None = None) -> Plan:
    # Imported late, as above: the composition root imports everything that serves.
    from toolyard.app.plan import Plan  # noqa: PLC0415
    from toolyard.cli.logs import start_logging  # noqa: PLC0415

    start_logging(options, choice)
    return Plan(
        choice.settings,
        identity,
        choice.project,
        choice.registries,
        like_mcp_bash=options.like_mcp_bash,
        own_client=options.http is None,
        scan=scan,
        by_lock=options.locked,
    )


def http_address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise ConfigError.at("--http", f"expected [HOST:]PORT, not {text!r}")
    return host.strip("[]") or "127.0.0.1", int(port)


def _number_of_workers(text: str) -> int:
    if text == "auto":
        return min(_cores(), MOST_WORKERS)
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
        raise ArgumentTypeError(f"expected 1 to {MOST_WORKERS}, or auto, not {text!r}")
    return int(text)


def _cores() -> int:
    """Those that we may use, where the system tells."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1
