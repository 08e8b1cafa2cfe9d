"""toolyard run-tool: call one tool, as a client would, and print its result."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass, replace

import orjson

from toolyard.app.build import App, build
from toolyard.app.following import followed
from toolyard.app.plan import Plan
from toolyard.catalog.entries import Tool
from toolyard.cli.choosing import chosen_by, plan_of, refuse_nothing
from toolyard.cli.client.arguments import json_object
from toolyard.cli.client.results import as_text
from toolyard.cli.client.terminal import TerminalChannel
from toolyard.cli.options import Chosen, add_project
from toolyard.cli.terminal.colour import painted
from toolyard.cli.terminal.waiting import waiting
from toolyard.errors import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ConfigError,
    ProtocolError,
    did_you_mean,
)
from toolyard.protocol.call import Call, Json, JsonObject
from toolyard.protocol.revisions import LATEST
from toolyard.protocol.tasks.words import FORBIDDEN, REQUIRED
from toolyard.scripts.contract.environ import tool_environ
from toolyard.scripts.contract.sourcing import exports_of
from toolyard.settings import Settings
from toolyard.sources.project.server_env import ENV_FILE
from toolyard.transports.answer import in_rounds


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "At a terminal the texts of the result are printed; elsewhere, and with --json, the whole "
        "result as one line of JSON. The exit code is 0, 1 for a call that failed, "
        "2 for a wrong command line or project. The tool's progress, log messages and questions "
        "appear on stderr when it is a terminal; without one, questions are declined."
    )
    parser.add_argument("name", help="the tool")
    parser.add_argument(
        "--args", default="{}", metavar="JSON", help="arguments; @FILE reads a file, @- stdin"
    )
    parser.add_argument("--json", action="store_true", help="the whole result, for programs")
    parser.add_argument("--task", action="store_true", help="run it as a task, and follow that")
    parser.add_argument("--timeout", type=float, metavar="SECS", help="how long it may take")
    parser.add_argument("--roots", metavar="DIR,DIR", help="folders the tool may work in")
    parser.add_argument("--dry-run", action="store_true", help="check everything, run nothing")
    parser.add_argument("--print-env", action="store_true", help="show the tool's environment")
    parser.add_argument("--verbose", action="store_true", help="all logs, and the tool's stderr")
    parser.add_argument("--no-refresh", action="store_true", help="trust .registry, do not scan")
    parser.add_argument("--minimal", action="store_true", help="behave as a server in minimal mode")
    allow = parser.add_argument_group("tools that the allowlist would refuse")
    allow.add_argument("--allow-self", action="store_true", help="allow this tool")
    allow.add_argument("--allow", action="append", default=[], metavar="TOOL", help="allow TOOL")
    allow.add_argument("--allow-all", action="store_true", help="allow all tools")
    before = parser.add_argument_group("environment")
    before.add_argument(
        "--with-server-env", action="store_true", help="source server.d/env.sh first"
    )
    before.add_argument(
        "--source", action="append", default=[], metavar="FILE", help="source FILE first"
    )
    add_project(parser)


def run(options: Namespace) -> int:
    arguments = json_object(options.args, "--args")
    before = chosen_by(options)
    refuse_nothing(before)
    exports = _source(options, before)
    # Once more: what the files export counts as if the caller had set it.
    if before.project is not None:
        options.project_root = before.project.root
    choice = chosen_by(options)
    plan = plan_of(options, choice, _settings(options, choice.settings))
    plan = replace(plan, server_env=not options.print_env, exports=exports)
    return asyncio.run(_run(ToolRun(options, plan, arguments)))


@dataclass(frozen=True, slots=True)
class ToolRun:
    """What the command line asks for."""

    options: Namespace
    plan: Plan
    arguments: JsonObject

    @property
    def tool(self) -> str:
        return str(self.options.name)

    @property
    def for_people(self) -> bool:
        """Scripts that were written for mcp-bash read JSON, at a terminal too."""
        return sys.stdout.isatty() and not self.options.json and not self.options.like_mcp_bash


def _source(options: Namespace, choice: Chosen) -> Mapping[str, str]:
    """Take what the files export into our environment: we are the server of this one call."""
    exports: dict[str, str] = {}
    for path in _env_files(options, choice):
        if options.verbose:
            print(f"run-tool: reading {path}", file=sys.stderr)
        exports |= exports_of(path, os.environ)
        os.environ.update(exports)
    return exports


def _env_files(options: Namespace, choice: Chosen) -> list[str]:
    """The server's own file first, where there is one and a tool is to be run at all."""
    project = choice.project
    root, server = (project.root, project.server) if project is not None else ("", "")
    files = [os.path.join(root, path) for path in options.source]
    for path in files:
        if not os.path.isfile(path):
            raise ConfigError.at("run-tool", f"env file not found: {path}")
    own = os.path.join(server, ENV_FILE)
    with_own = options.with_server_env or choice.settings.run_tool_source_server_env
    if server and with_own and not options.print_env and os.path.isfile(own):
        files.insert(0, own)
    return files


def _settings(options: Namespace, settings: Settings) -> Settings:
    changes: dict[str, object] = {}
    if options.roots:
        changes["roots"] = tuple(os.path.abspath(part) for part in options.roots.split(",") if part)
    if options.no_refresh:
        changes["static_registry"] = True
    if options.minimal:
        changes["force_minimal"] = True
    tools = [*options.allow, *([options.name] if options.allow_self else [])]
    if options.allow_all:
        tools.append("*")
    if tools and (settings.tool_allowlist or options.like_mcp_bash):
        changes["tool_allowlist"] = (*settings.tool_allowlist, *tools)
    return settings.replace(**changes) if changes else settings


async def _run(request: ToolRun) -> int:
    app = build(request.plan)
    try:
        if request.plan.settings.force_minimal:
            raise ProtocolError(METHOD_NOT_FOUND, "There are no tools in minimal mode")
        return await _look_or_call(app, request)
    except ProtocolError as error:
        _print_error(error, request)
        return 1
    finally:
        await app.close()


def _print_error(error: ProtocolError, request: ToolRun) -> None:
    if request.for_people:
        print(painted(f"{error.message} ({error.code})", "red", sys.stderr), file=sys.stderr)
        return
    details = {"code": error.code, "message": error.message, "data": error.data}
    _print({"_mcpToolError": True, **details})


async def _look_or_call(app: App, request: ToolRun) -> int:
    async with waiting(app.federation.health):
        catalog = await app.catalog()
    tool = catalog.tools.get(request.tool)
    if tool is None:
        near = did_you_mean(request.tool, catalog.tools, quote="'")
        raise ProtocolError(
            INVALID_PARAMS,
            f"Tool '{request.tool}' not found{near}",
            {"name": request.tool},
        )
    if request.options.print_env:
        return _print_env(app, tool)
    if request.options.dry_run:
        return _report(tool, catalog.input_checkers[tool.name](request.arguments), request)
    if request.options.task and tool.tasks == FORBIDDEN:
        why = f"Tool '{tool.name}' does not run as a task: its metadata has no taskSupport"
        raise ProtocolError(INVALID_PARAMS, why)
    return await _call(app, request, tool)


def _hinted(error: ProtocolError, request: ToolRun) -> ProtocolError:
    """For a tool that the allowlist refuses: here a flag allows it, not a client's settings."""
    if "MCPBASH_TOOL_ALLOWLIST" not in error.message:
        return error
    hint = f"Try: {request.options.program} run-tool {request.tool} --allow-self ..."
    return ProtocolError(error.code, f"Tool '{request.tool}' blocked by policy. {hint}")


def _print_env(app: App, tool: Tool) -> int:
    """The environment that the tool would get, except what each call adds."""
    if tool.origin.source != "project":
        raise ProtocolError(INVALID_PARAMS, f"Tool '{tool.name}' is not a script of this project")
    environ = {**app.scripts.environ, **tool_environ(tool.name, tool.origin.place)}
    for name in sorted(environ):
        print(f"{os.fsdecode(name)}={os.fsdecode(environ[name])}")
    return 0


def _report(tool: Tool, wrong: str | None, request: ToolRun) -> int:
    limit = request.options.timeout or tool.extra.get("timeoutSecs")
    _print(
        {
            "dryRun": True,
            "tool": tool.name,
            "path": tool.origin.place,
            "arguments": request.arguments,
            "timeoutSecs": limit or request.plan.settings.default_tool_timeout,
            "valid": not wrong,
            **({"problem": wrong} if wrong else {}),
        }
    )
    return 1 if wrong else 0


async def _call(app: App, request: ToolRun, tool: Tool) -> int:
    make = followed if request.options.task or tool.tasks == REQUIRED else in_rounds
    verbose = request.options.verbose
    channel = TerminalChannel(level="debug" if verbose else "info", chatty=verbose)
    params: JsonObject = {"name": request.tool, "arguments": request.arguments}
    if request.options.timeout is not None:
        params["timeoutSecs"] = request.options.timeout
    call = Call(
        "tools/call",
        params,
        LATEST,
        client=channel.client,
        meta={"progressToken": "run-tool"},
        id="run-tool",
        log_level="debug" if verbose else "info",
    )
    try:
        async with waiting(app.federation.health):
            result = await make(app.edge, call, channel)
    except ProtocolError as error:
        raise _hinted(error, request) from None
    finally:
        channel.clear()
    assert isinstance(result, dict)
    if verbose:
        _show_stderr(result)
    _print_result(result, request)
    return 1 if result.get("isError") else 0


def _print_result(result: JsonObject, request: ToolRun) -> None:
    if not request.for_people:
        _print(result)
    elif result.get("isError"):
        print(painted("\n".join(as_text(result)), "red", sys.stderr), file=sys.stderr)
    else:
        print("\n".join(as_text(result)))


def _show_stderr(result: JsonObject) -> None:
    stderr = (result.get("_meta") or {}).get("stderr")
    if stderr:
        print(stderr, file=sys.stderr)


def _print(value: Json) -> None:
    sys.stdout.write(orjson.dumps(value).decode() + "\n")
    sys.stdout.flush()
