"""toolyard scaffold: add a tool, resource, prompt, completion, page or test that works at once."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from toolyard.cli.choosing import chosen_by, project_of
from toolyard.cli.options import add_project
from toolyard.cli.project.new import run_line
from toolyard.cli.project.registering import register_completion
from toolyard.cli.project.scaffolding import checked_name, lay_out
from toolyard.errors import ConfigError
from toolyard.sources.project.layout import Project

_KINDS = {
    "tool": "a script, its metadata and a test",
    "resource": "a file that clients may read",
    "prompt": "a text with arguments",
    "completion": "a script that offers values for an argument",
    "test": "test/run.sh, which runs the tests of everything scaffolded",
    "ui": "a page that shows a tool's results (MCP Apps)",
}


def add(parser: ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="|".join(_KINDS))
    for kind, help_line in _KINDS.items():
        subparser = kinds.add_parser(kind, help=help_line, description=help_line.capitalize() + ".")
        if kind == "ui":
            subparser.add_argument(
                "name", nargs="?", help="of the page (default: that of the tool)"
            )
            subparser.add_argument("--tool", help="the tool whose results it shows")
        elif kind != "test":
            subparser.add_argument("name", help=f"of the {kind}")
        if kind == "tool":
            subparser.add_argument("--ui", action="store_true", help="with a page for its results")
            subparser.add_argument(
                "--python", action="store_true", help="in Python instead of bash"
            )
        add_project(subparser)


def run(options: Namespace) -> int:
    project = project_of(chosen_by(options))
    return int(_MAKERS[options.kind](options, project))


def _tool(options: Namespace, project: Project) -> int:
    name = checked_name(options.name)
    folder = os.path.join(project.tools, name)
    _refuse_existing(folder)
    template = "tool_python" if options.python else "tool"
    lay_out(template, folder, name, program=options.program)
    if options.ui:
        lay_out("ui", os.path.join(folder, "ui"), name, program=options.program)
    _say("tool", folder, run_line(options, name))
    return 0


def _resource(options: Namespace, project: Project) -> int:
    folder = _simple("resource", project.resources, options)
    request = f'request resources/read \'{{"name": "{options.name}"}}\''
    _say("resource", folder, f"{options.program} {request}")
    return 0


def _prompt(options: Namespace, project: Project) -> int:
    folder = _simple("prompt", project.prompts, options)
    arguments = '"arguments": {"topic": "tides", "sentences": "three"}'
    request = f'request prompts/get \'{{"name": "{options.name}", {arguments}}}\''
    _say("prompt", folder, f"{options.program} {request}")
    return 0


def _completion(options: Namespace, project: Project) -> int:
    folder = _simple("completion", project.completions, options)
    path = os.path.relpath(os.path.join(folder, "suggest.sh"), project.root)
    register_file = register_completion(project, options.name, path)
    _say("completion", folder, f"bash {os.path.relpath(folder)}/smoke.sh")
    print(f"It completes the arguments of the prompt '{options.name}', see {register_file}")
    return 0


def _simple(kind: str, parent: str, options: Namespace) -> str:
    name = checked_name(options.name)
    folder = os.path.join(parent, name)
    _refuse_existing(folder)
    lay_out(kind, folder, name, program=options.program)
    return folder


def _test(options: Namespace, project: Project) -> int:
    folder = os.path.join(project.root, "test")
    lay_out("test", folder, os.path.basename(project.root), program=options.program)
    _say("test", folder, f"bash {os.path.relpath(folder)}/run.sh")
    return 0


def _ui(options: Namespace, project: Project) -> int:
    if options.tool is None and options.name is None:
        raise ConfigError.at("scaffold ui", "needs a name, or --tool TOOL")
    name = checked_name(options.name or options.tool)
    folder = os.path.join(project.ui, name)
    if options.tool is not None:
        tool = os.path.join(project.tools, checked_name(options.tool))
        if not os.path.isdir(tool):
            raise ConfigError.at(tool, "there is no such tool")
        folder = os.path.join(tool, "ui")
    _refuse_existing(folder)
    lay_out("ui", folder, name, program=options.program)
    _say("ui", folder, f"{options.program} list")
    return 0


def _refuse_existing(folder: str) -> None:
    if os.path.lexists(folder):
        raise ConfigError.at(folder, "already exists; nothing was written")


def _say(kind: str, folder: str, command: str) -> None:
    print(f"Scaffolded {kind} at {folder}\nTry: {command}")


_MAKERS = {
    "tool": _tool,
    "resource": _resource,
    "prompt": _prompt,
    "completion": _completion,
    "test": _test,
    "ui": _ui,
}
