"""Where the logs of a run go: stderr, a folder that was named, a file with every message."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from toolyard.app.payloads import PAYLOADS
from toolyard.cli.options import Chosen
from toolyard.telemetry import LogFormat, set_up

SCRIPTS = "tools.debug.log"
_LEVEL_VARIABLES = ("MCPBASH_LOG_LEVEL", "TOOLYARD_LOG_LEVEL")


def with_debugging(options: Namespace, chosen: Chosen) -> Chosen:
    """Where every message is written down, or every step of a script, a folder holds it."""
    import tempfile  # noqa: PLC0415 (only those who need it pay for it)

    settings = chosen.settings
    if options.debug:
        settings = settings.replace(debug_payloads=True, debug=True)
    folder = settings.log_dir or tempfile.mkdtemp(prefix="toolyard.debug.")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    scripts = settings.debug_log or os.path.join(folder, SCRIPTS)
    where = os.path.join(folder, PAYLOADS) if settings.debug_payloads else folder
    print(f"{options.program} debug: logging to {where}", file=sys.stderr, flush=True)
    return chosen._replace(settings=settings.replace(log_dir=folder, debug_log=scripts))


def with_ci_logs(options: Namespace, chosen: Chosen) -> Chosen:
    """In continuous integration there is a folder of logs, named or not."""
    import tempfile  # noqa: PLC0415 (as above)

    folder = chosen.settings.log_dir
    if not folder:
        folder = tempfile.mkdtemp(prefix="toolyard.ci.", dir=os.environ.get("RUNNER_TEMP"))
        print(f"{options.program}: logging to {folder}", file=sys.stderr, flush=True)
    return chosen._replace(settings=chosen.settings.replace(log_dir=folder))


def start_logging(options: Namespace, chosen: Chosen) -> None:
    log_format: LogFormat = options.log_format
    set_up(_level(options, chosen), log_format, chosen.settings.log_dir)


def _level(options: Namespace, chosen: Chosen) -> str:
    settings = chosen.settings
    if settings.debug or (settings.ci_mode and settings.ci_verbose):
        return "debug"
    if settings.quiet:
        return "error"
    unsaid = not options.log_level and not any(name in os.environ for name in _LEVEL_VARIABLES)
    if unsaid and chosen.project is not None:
        marker = os.path.join(chosen.project.server, ".debug")
        return "debug" if os.path.exists(marker) else settings.log_level
    return settings.log_level
