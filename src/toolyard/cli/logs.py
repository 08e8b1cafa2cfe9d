"""Where logs go: to stderr, to a folder, and every message to a file."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from toolyard.app.payloads import PAYLOADS
from toolyard.cli.options import Chosen
from toolyard.telemetry import LogFormat, set_up

SCRIPTS = "tools.debug.log"
_LEVEL_VARIABLES = ("MCPBASH_LOG_LEVEL", "TOOLYARD_LOG_LEVEL")


def with_debugging(options: Namespace, choice: Chosen) -> Chosen:
    """Give a folder to whoever wants every message, or every step of a script, in a file."""
    import tempfile  # noqa: PLC0415 (only those who debug pay for it)

    settings = choice.settings
    if options.debug:
        settings = settings.replace(debug_payloads=True, debug=True)
    folder = settings.log_dir or tempfile.mkdtemp(prefix="toolyard.debug.")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    scripts = settings.debug_log or os.path.join(folder, SCRIPTS)
    where = os.path.join(folder, PAYLOADS) if settings.debug_payloads else folder
    print(f"{options.program} debug: logging to {where}", file=sys.stderr, flush=True)
    return choice._replace(settings=settings.replace(log_dir=folder, debug_log=scripts))


def with_ci_logs(options: Namespace, choice: Chosen) -> Chosen:
    """In continuous integration there is always a folder of logs."""
    import tempfile  # noqa: PLC0415 (as above)

    folder = choice.settings.log_dir
    if not folder:
        folder = tempfile.mkdtemp(prefix="toolyard.ci.", dir=os.environ.get("RUNNER_TEMP"))
        print(f"{options.program}: logging to {folder}", file=sys.stderr, flush=True)
    return choice._replace(settings=choice.settings.replace(log_dir=folder))


def start_logging(options: Namespace, choice: Chosen) -> None:
    log_format: LogFormat = options.log_format
    set_up(_level(options, choice), log_format, choice.settings.log_dir)


def _level(options: Namespace, choice: Chosen) -> str:
    settings = choice.settings
    if settings.debug or (settings.ci_mode and settings.ci_verbose):
        return "debug"
    if settings.quiet:
        return "error"
    is_default = not options.log_level and not any(name in os.environ for name in _LEVEL_VARIABLES)
    if is_default and choice.project is not None:
        marker = os.path.join(choice.project.server, ".debug")
        return "debug" if os.path.exists(marker) else settings.log_level
    return settings.log_level
