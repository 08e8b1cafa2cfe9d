"""The check of configuration objects says what JSON Schema says, and where."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.program import toolyard
from toolyard.configuration import objects
from toolyard.configuration.check import Findings, check
from toolyard.configuration.objects import schema, shape
from toolyard.configuration.shapes import KEYWORDS, Compiler
from toolyard.errors import ConfigError

FILES = sorted(path.stem for path in Path(objects.__file__).parent.glob("schemas/*.json"))
PARTS = [(file, part) for file in FILES for part in ("", *schema(file).get("$defs", {}))]
JUNK: list[Any] = [
    *(None, True, False, 0, 1, -1, 1.5, 2.0, 10**30, "", "x", "1", "12\n", "all", "none", "sse"),
    *("${X}", "https://h", "true", "oauth", "everyone", [], ["x"], [1], [[]], [{}], {}, {"a": 1}),
    *({"a": "b"}, {"regex": "x"}, {"regex": ""}, {"command": "x"}, {"url": 1}),
]


def for_us(part: Any) -> Any:
    """Without what only editors are told: which members go together is checked by code."""
    if isinstance(part, dict):
        return {key: for_us(value) for key, value in part.items() if key != "oneOf"}
    return [for_us(element) for element in part] if isinstance(part, list) else part


def subschemas(part: Any) -> Iterator[dict[str, Any]]:
    """Each schema in a schema, but for those of editors."""
    if not isinstance(part, dict):
        return
    yield part
    for keyword in ("items", "additionalProperties"):
        yield from subschemas(part.get(keyword))
    for choice in part.get("anyOf", ()):
        yield from subschemas(choice)
    for keyword in ("properties", "$defs"):
        for member in part.get(keyword, {}).values():
            yield from subschemas(member)


def resolved(part: Any, root: Any) -> Any:
    while isinstance(part, dict) and "$ref" in part:
        target = root
        for key in part["$ref"].split("/")[1:]:
            target = target[key]
        part = target
    return part


def values(part: Any, root: Any) -> st.SearchStrategy[Any]:
    """Values that fit a schema nearly, and others."""
    part = resolved(part, root)
    choices: list[st.SearchStrategy[Any]] = [st.sampled_from(JUNK)]
    if not isinstance(part, dict):
        return choices[0]
    choices += [st.sampled_from(part["enum"])] if "enum" in part else []
    choices += [values(choice, root) for choice in part.get("anyOf", ())]
    if "items" in part:
        choices.append(st.lists(values(part["items"], root), max_size=2))
    if "properties" in part or "additionalProperties" in part:
        members = {key: values(below, root) for key, below in part.get("properties", {}).items()}
        rest = st.dictionaries(
            st.sampled_from(["zz", "$comment"]),
            values(part.get("additionalProperties"), root),
            max_size=1,
        )
        named = st.fixed_dictionaries({}, optional=members)
        choices.append(st.builds(lambda ours, others: {**ours, **others}, named, rest))
    return st.one_of(choices)


@pytest.mark.parametrize("file", FILES)
def test_a_schema_is_a_schema_and_says_nothing_that_is_not_checked(file: str) -> None:
    jsonschema_rs.meta.validate(schema(file))
    assert [part for part in subschemas(for_us(schema(file))) if part.keys() - KEYWORDS] == []


@pytest.mark.parametrize(("file", "part"), PARTS)
def test_what_is_refused_is_what_json_schema_refuses(file: str, part: str) -> None:
    whole = for_us(schema(file))
    pointer = f"/$defs/{part}" if part else ""
    ours = Compiler(whole).at(pointer)
    theirs = jsonschema_rs.validator_for(
        {"$ref": f"#{pointer}", "$defs": whole["$defs"]} if part else whole
    )

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(value=values({"$ref": f"#{pointer}"}, whole))
    def agree(value: Any) -> None:
        findings = Findings("f", b"")
        check(value, ours, findings)
        assert bool(findings.problems) != theirs.is_valid(value), findings.problems

    agree()


def test_each_mistake_has_its_file_pointer_line_and_remedy(tmp_path: Path) -> None:
    file = tmp_path / "registry.json"
    file.write_text('{\n  "servers": [\n    {"name": "a", "auth": "oaut",\n     "nmae": 1}]}')
    findings = Findings(str(file))
    check(json.loads(file.read_text()), shape("registry"), findings)
    assert findings.notes == [
        f'{file}#/servers/0/nmae: unknown key, ignored (did you mean "name"?)'
    ]
    with pytest.raises(ConfigError) as refused:
        findings.close()
    assert str(refused.value) == (
        f'{file}#/servers/0/auth: must be one of "none", "oauth" (line 3)'
    )


def test_checking_imports_no_library_of_schemas() -> None:
    program = (
        "from toolyard.configuration.check import Findings, check\n"
        "from toolyard.configuration.objects import shape\n"
        "check({'servers': []}, shape('registry'), Findings('f'))\n"
        "import sys; print(*sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert not {"jsonschema_rs", "orjson", "toolyard.files.placed_lines"} & set(
        shown.stdout.split()
    )
    assert "toolyard.configuration.check" in shown.stdout, shown.stderr


@pytest.mark.parametrize("name", sorted(objects.PUBLISHED))
def test_each_schema_is_printed_for_editors(name: str) -> None:
    done = toolyard("schema", name)
    assert (done.code, done.json) == (0, objects.published(name)), done.err
    jsonschema_rs.meta.validate(done.json)
    assert name in toolyard("schema").out
