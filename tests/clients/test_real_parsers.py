"""What others have written reads what we write: VS Code's parser, js-yaml, PyYAML, tomllib."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Desk
from tests.clients.states import states_of
from tests.clients.test_matrix import pairs
from tests.peers.serving import ROOT, environment
from toolyard.clients.table import CLIENTS
from toolyard.files.documents.json_text import JsonText
from toolyard.files.documents.yaml_text import YamlText

PLACE = ROOT / ".cache" / "parsers"
PACKAGES = ("jsonc-parser@3.3.1", "js-yaml@4.1.0")
NODE = Path(sys.executable).parent
READ = """
const jsonc = require('jsonc-parser'), yaml = require('js-yaml');
const lines = require('fs').readFileSync(0, 'utf8').trim().split('\\n').map(JSON.parse);
for (const {kind, data} of lines) {
  const text = Buffer.from(data, 'base64').toString('utf8').replace(/^\\uFEFF/, '');
  const errors = [];
  const value = kind === 'yaml' ? yaml.load(text) : kind === 'json' ? JSON.parse(text)
    : jsonc.parse(text, errors, {allowTrailingComma: true});
  console.log(JSON.stringify({value, errors}));
}
"""


@pytest.fixture(scope="module")
def node() -> Path:
    done = PLACE / ".installed"
    if not done.exists() or done.read_text() != " ".join(PACKAGES):
        PLACE.mkdir(parents=True, exist_ok=True)
        command = [str(NODE / "npm"), "install", "--silent", "--no-audit", "--no-fund"]
        result = subprocess.run(
            [*command, "--prefix", str(PLACE), *PACKAGES],
            env=environment({"PATH": f"{NODE}:/usr/bin:/bin"}),
            capture_output=True,
            timeout=100,
        )
        if result.returncode:
            pytest.skip("jsonc-parser and js-yaml cannot be installed here")
        done.write_text(" ".join(PACKAGES))
    return NODE / "node"


def read_by(node: Path, documents: list[tuple[str, bytes]]) -> Iterator[tuple[Any, list[Any]]]:
    lines = [json.dumps({"kind": k, "data": base64.b64encode(d).decode()}) for k, d in documents]
    done = subprocess.run(
        [str(node), "-e", READ],
        input="\n".join(lines),
        cwd=PLACE,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        yield answer["value"], answer["errors"]


def kind_of(form: Any) -> str:
    if isinstance(form, YamlText):
        return "yaml"
    return "jsonc" if form.comments else "json"


def test_every_sample_is_read_by_its_clients_parser(node: Path, memory: Path) -> None:
    desk, documents, samples = Desk(memory), [], []
    for client in CLIENTS.values():
        if not isinstance(client.form, JsonText | YamlText) or not client.writes:
            continue
        for server, sample in pairs(client):
            if sample is not None:
                file = desk.file(client)
                desk.link(file, server)
                documents.append((kind_of(client.form), Path(file.path).read_bytes()))
                samples.append(sample)
                desk.unlink(file)
    assert len(samples) > 40
    answers = list(read_by(node, documents))
    assert [value for value, _ in answers] == samples
    assert all(not errors for _, errors in answers)


def test_every_state_with_the_entry_is_read_without_an_error(node: Path, memory: Path) -> None:
    documents, kept = [], []
    for name in ("zed", "cursor", "claude-code", "gemini", "goose", "continue"):
        client = CLIENTS[name]
        for number, state in enumerate(states_of(client)):
            if state.can_be_linked and not state.is_blank:
                desk = Desk(memory / f"{name}{number}")
                file = desk.file(client)
                Path(file.path).parent.mkdir(parents=True)
                Path(file.path).write_bytes(state.data or b"")
                desk.link(file)
                documents.append((kind_of(client.form), Path(file.path).read_bytes()))
                kept.append((client, state.name))
    for (client, name), (value, errors) in zip(kept, read_by(node, documents), strict=True):
        container = value[client.container[0]]
        names = [item["name"] for item in container] if client.key else list(container)
        assert "demo" in names and not errors, (client.id, name)
