"""Write what is made of the descriptions of configuration: the schema of settings, docs' tables.

A page holds `<!-- table: FILE PART -->` and `<!-- end of table -->`; what is between is written
anew. Nothing of it is written by hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts import environment
from scripts.client_table import client_table
from toolyard.configuration.objects import schema, shape
from toolyard.settings import Knob, knobs

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = ROOT / "src" / "toolyard" / "configuration" / "schemas" / "settings.json"
TABLE = re.compile(r"(<!-- table: (\S+) (\S*) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def outputs() -> Iterator[tuple[Path, str]]:
    """Each file that is made, and what it should hold."""
    yield SETTINGS, json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n"
    yield environment.PAGE, environment.page()
    for path in sorted((ROOT / "docs").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if TABLE.search(text):
            yield (
                path,
                TABLE.sub(lambda match: match[1] + table(match[2], match[3]) + match[4], text),
            )


def settings_schema() -> dict[str, Any]:
    access = schema("access")
    properties = {
        knob.file_key: {**described(knob), **access["properties"].get(knob.file_key, {})}
        for knob in knobs()
    }
    return {
        "$schema": access["$schema"],
        "$comment": "Made of the table of settings by scripts/tables.py.",
        "title": "Settings of Toolyard (toolyard.json)",
        "type": "object",
        "additionalProperties": False,
        "properties": {"$schema": {"type": "string"}, "$comment": {}, **properties},
        "$defs": access["$defs"],
    }


def described(knob: Knob[Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"description": f"{knob.meaning} ({knob.variable})", **knob.kind.schema}
    if not knob.follows and knob.default not in ("", (), {}):
        made["default"] = knob.default
    return made


def table(file: str, part: str) -> str:
    """One row for each member of an object."""
    if file == "clients":
        return client_table()
    members = resolved(schema(file), part)["properties"]
    rows = (row(file, key, f"{part}/properties/{key}") for key in members if key[0] != "$")
    return "| field | value | meaning |\n|---|---|---|\n" + "".join(rows)


def row(file: str, key: str, part: str) -> str:
    member = resolved(schema(file), part, follow=False)
    meaning = member.get("markdownDescription", member.get("description", ""))
    value = shape(file, part).message.removeprefix("must be ")
    default = member.get("default")
    if default is not None:
        value += f"; default `{json.dumps(default)}`"
    return f"| `{key}` | {value} | {meaning} |\n".replace("\\|", "|")


def resolved(root: dict[str, Any], part: str, *, follow: bool = True) -> dict[str, Any]:
    target: Any = root
    for key in part.split("/")[1:]:
        target = target[key]
    while follow and "$ref" in target:
        target = resolved(root, target["$ref"].removeprefix("#"))
    schema_part: dict[str, Any] = target
    return schema_part


if __name__ == "__main__":
    for path, text in outputs():
        path.write_text(text, encoding="utf-8")
