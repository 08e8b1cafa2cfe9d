"""ARCHITECTURE.md lists exactly what is on disk; pages link to what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "toolyard"
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "examples").glob("**/*.md")),
]
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def on_disk() -> set[str]:
    folders = {f"{path.name}/" for path in PACKAGE.iterdir() if path.is_dir()}
    modules = {path.name for path in PACKAGE.glob("*.py")}
    return (folders | modules) - {"__pycache__/", "__init__.py"}


def test_the_folder_list_is_the_folder_list() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    block = text.split("```")[1]
    listed = re.findall(r"^  (\S+)", block, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == on_disk()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text())
    broken = [
        target for target in targets if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []
