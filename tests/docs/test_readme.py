"""What the README shows is what happens."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.program import toolyard

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.long


def test_the_script_of_the_readme_gives_the_result_of_the_readme(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    script, result = (
        re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)[0] for language in ("bash", "json")
    )
    (tmp_path / "registry.json").write_text("{}")
    (tmp_path / "tools").mkdir()
    tool = tmp_path / "tools" / "count_words.sh"
    tool.write_text(script)
    tool.chmod(0o755)
    words = re.search(r"`toolyard run-tool (\w+) --args '(.*?)' --json`", text)
    assert words is not None
    done = toolyard("run-tool", words[1], "--args", words[2], "--json", cwd=tmp_path)
    assert (done.code, done.json) == (0, json.loads(result))


def test_the_registry_of_the_readme_is_sound(tmp_path: Path) -> None:
    registry = re.findall(r"```json\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    (tmp_path / "registry.json").write_text(registry)
    done = toolyard("registry", "check", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
