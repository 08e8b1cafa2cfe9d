"""What is served if there is no project: a folder with one tool, which explains the rest."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

TOOL = "getting_started"
_SERVER = {"name": "toolyard-getting-started", "title": "Toolyard", "version": "0.0.0"}
_META = {
    "name": TOOL,
    "title": "Getting started",
    "description": "No project was found. Explains how to make one and how to have it served.",
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
_TEXT = """\
The server runs, but it found no project: neither in the folder it was started in, nor
above it, nor in MCPBASH_PROJECT_ROOT.

Make one:

    {program} new my-project
    cd my-project
    {program} run-tool hello{allow}
    {program} scaffold tool check-disk

or by hand: a folder with

    server.d/server.meta.json      {{"name": "my-project"}}
    tools/hello/tool.sh            any executable, in any language; what it prints is the result
    tools/hello/tool.meta.json     {{"name": "hello", "description": "Says hello"}}

Then have your client start the server in it, with the entry that this prints:

    {program} config --json --project-root /path/to/my-project

What you change in a project is noticed while it is served.
"""


@contextmanager
def temporary_project(options: Namespace) -> Iterator[str]:
    root = tempfile.mkdtemp(prefix="toolyard-getting-started-")
    try:
        _write(root, options)
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _write(root: str, options: Namespace) -> None:
    folder = os.path.join(root, "tools", TOOL)
    os.makedirs(folder)
    os.mkdir(os.path.join(root, "server.d"))
    _put(os.path.join(root, "server.d", "server.meta.json"), json.dumps(_SERVER))
    _put(os.path.join(folder, "tool.meta.json"), json.dumps(_META))
    allow = " --allow-self" if options.like_mcp_bash else ""
    text = _TEXT.format(program=options.program, allow=allow)
    _put(os.path.join(folder, "tool.sh"), f"#!/bin/sh\ncat <<'END'\n{text}END\n", 0o700)


def _put(path: str, text: str, mode: int = 0o600) -> None:
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "w") as file:
        file.write(text)
