"""Runs bash scripts that source the SDK, in an exchange folder laid out as the server does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

SDK = Path(__file__).resolve().parents[2] / "src" / "toolyard" / "sdk"
JSON_TOOL = SDK / "json-tool"
JQ = shutil.which("jq")
BASH = shutil.which("bash") or "bash"
PRELUDE = 'set -euo pipefail\nsource "${MCP_SDK:?}/tool-sdk.sh"\n'


class Ran(NamedTuple):
    out: str
    err: str
    code: int

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Sandbox:
    """One call's exchange folder, and the environment that names what is in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.project.mkdir()
        self.error_file = self._empty("error")
        self.progress = self._empty("progress")
        self.log = self._empty("log")
        self.cancel = folder / "cancel"
        self.elicit_request = folder / "elicit.request"
        self.elicit_response = folder / "elicit.response"
        self.environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "MCP_SDK": str(SDK),
            "MCP_TOOL_NAME": "probe",
            "MCP_TOOL_ARGS_JSON": "{}",
            "MCP_TOOL_ERROR_FILE": str(self.error_file),
            "MCP_PROGRESS_STREAM": str(self.progress),
            "MCP_PROGRESS_TOKEN": "token",
            "MCP_LOG_STREAM": str(self.log),
            "MCP_CANCEL_FILE": str(self.cancel),
            "MCP_ELICIT_SUPPORTED": "1",
            "MCP_ELICIT_REQUEST_FILE": str(self.elicit_request),
            "MCP_ELICIT_RESPONSE_FILE": str(self.elicit_response),
        }

    def run(self, script: str, arguments: Any = None, **environment: str | None) -> Ran:
        """`script` after `source`; a variable given as None is unset."""
        if arguments is not None:
            environment["MCP_TOOL_ARGS_JSON"] = json.dumps(arguments)
        return self.run_bare(PRELUDE + script, **environment)

    def run_bare(self, script: str, **environment: str | None) -> Ran:
        done = subprocess.run(
            [BASH, "-c", script],
            cwd=self.project,
            env=self._merged(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Ran(done.stdout.decode(), done.stderr.decode(errors="replace"), done.returncode)

    def start(self, script: str, **environment: str | None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [BASH, "-c", PRELUDE + script],
            cwd=self.project,
            env=self._merged(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def notifications(self, stream: Path) -> list[Any]:
        return [json.loads(line) for line in stream.read_text().splitlines() if line]

    def _merged(self, changes: dict[str, str | None]) -> dict[str, str]:
        merged: dict[str, str | None] = {**self.environment, **changes}
        return {name: value for name, value in merged.items() if value is not None}

    def _empty(self, name: str) -> Path:
        path = self.folder / name
        path.touch()
        return path
