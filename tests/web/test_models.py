"""The page's pure models, tested by Node in milliseconds; its types, held to what the API sends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.web.gateway import Opened, opened

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
NODE = Path(sys.executable).parent / "node"
TYPES = (
    "ContextView",
    "Checked",
    "Client",
    "Detail",
    "Listing",
    "LoginRow",
    "Overview",
    "RegistryFile",
    "TrafficCall",
    "TrafficLine",
)
OPTIONS = {
    "noEmit": True,
    "strict": True,
    "allowImportingTsExtensions": True,
    "module": "esnext",
    "moduleResolution": "bundler",
    "target": "es2022",
    "types": [],
}
COMPILER = FRONTEND / "node_modules" / "typescript" / "bin" / "tsc"


def test_the_pages_models_pass_their_own_tests() -> None:
    done = subprocess.run(
        [NODE, "--test", "tests/*.test.ts"],
        cwd=FRONTEND,
        # The page says the same in every country.
        env={**os.environ, "LC_ALL": "de_DE.UTF-8"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    assert "\nℹ fail 0\n" in done.stdout and "\nℹ tests 0\n" not in done.stdout


async def answers(yard: Opened) -> dict[str, list[tuple[str, Any]]]:
    """What the API sends, by the type that the page takes it for."""
    api = yard.api
    listing = await api.get("catalog")
    named = [
        *(("tools", tool["name"]) for tool in listing["tools"]),
        *(("resources", resource["uri"]) for resource in listing["resources"]),
        *(("templates", template["uriTemplate"]) for template in listing["templates"]),
        *(("prompts", prompt["name"]) for prompt in listing["prompts"]),
    ]
    for name, arguments in (("greet", {"name": "Ada"}), ("word_count", {"text": "a b"})):
        await api.events_of(name, arguments)
    traffic = await api.get("traffic")
    calls = [await api.get(f"traffic/{line['number']}") for line in traffic["lines"]]
    registry = await api.get("registry")
    file = registry["files"][0]
    _, checked = await api.send(
        "POST", "registry", {"path": file["path"], "sections": file["sections"]}
    )
    details = [
        await api.get(f"entry?kind={kind}&name={quote(name, safe='')}") for kind, name in named
    ]
    return {
        "Overview": [("overview", await api.get("overview"))],
        "Listing": [("catalog", listing)],
        "Detail": [(f"entry of {detail['name']}", detail) for detail in details],
        "{ latest: number; lines: TrafficLine[] }": [("traffic", traffic)],
        "TrafficCall": [(f"traffic/{call['number']}", call) for call in calls],
        "{ files: RegistryFile[] }": [("registry", registry)],
        "Checked": [("registry, checked", checked)],
        "ContextView": [
            (f"context in view {view}", await api.get(f"context?view={view}&query=greet+nought"))
            for view in ("full", "index", "search")
        ],
        "{ logins: LoginRow[] }": [("logins", await api.get("logins"))],
        "{ clients: Client[] }": [("clients", await api.get("clients?url=http://localhost/mcp"))],
    }


@pytest.mark.long
async def test_the_pages_types_are_what_the_api_sends(tmp_path: Path) -> None:
    """Each answer, as a literal of the type the page takes it for, goes through the compiler.

    A literal may have no member that its type does not declare, so this fails both for what the
    API stopped sending and for what it sends in addition.
    """
    async with opened() as yard:
        sent = await answers(yard)
    lines = [f'import type {{ {", ".join(TYPES)} }} from "{FRONTEND}/src/types.ts";']
    for type_name, values in sent.items():
        for what, value in values:
            lines.append(f"// {what}")
            lines.append(f"export const answer{len(lines)}: {type_name} = {json.dumps(value)};")
    (tmp_path / "answers.ts").write_text("\n".join(lines))
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": OPTIONS}))
    command = [str(NODE), str(COMPILER), "--project", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
