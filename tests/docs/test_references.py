"""The reference pages mention everything that there is to mention."""

from __future__ import annotations

import re
from pathlib import Path

from toolyard.cli import COMMANDS
from toolyard.clients.table import CLIENTS

ROOT = Path(__file__).resolve().parents[2]
SDK = ROOT / "src" / "toolyard" / "sdk"


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def test_every_command_is_on_the_page_of_commands() -> None:
    for command in COMMANDS:
        assert re.search(rf"`{command}\b", page("commands.md")), command


def test_every_client_is_on_the_page_of_clients() -> None:
    for client in CLIENTS.values():
        assert f"`{client.id}`" in page("clients.md"), client.id


def test_every_function_of_the_sdk_is_on_its_page() -> None:
    defined = functions_in(*SDK.glob("*-sdk.sh"), *(SDK / "parts").glob("*.sh"))
    mentioned = set(re.findall(r"mcp_\w+", page("sdk.md")))
    assert defined - mentioned == set()
    assert mentioned - defined == set()


def test_every_function_of_a_policys_shell_is_on_the_page_of_hooks() -> None:
    defined = functions_in(SDK / "policy-driver.sh")
    plain = {name for name in defined if not name.startswith("mcp_logging_")}
    assert plain - set(re.findall(r"mcp_\w+", page("hooks.md"))) == set()


def functions_in(*shell: Path) -> set[str]:
    return {
        name
        for path in shell
        for name in re.findall(r"^(mcp_\w+)\(\)", path.read_text(), re.MULTILINE)
    }
