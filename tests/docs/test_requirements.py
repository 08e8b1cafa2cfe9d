"""docs/requirements.md: every clause has its proof, and every proof exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.registry.test_cases import CASES

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "requirements.md").read_text()
ROW = re.compile(r"^\| (\d{3}\.\d+) \| (.+) \| (.+) \|$", re.MULTILINE)
PROOF = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)(?:\[([^`]+)\])?`")
REPLACED = "Bash mechanics; "


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, functions))


def test_every_clause_is_numbered_and_has_a_proof() -> None:
    rows = ROW.findall(PAGE)
    assert len(rows) == sum(line.startswith("| 0") for line in PAGE.splitlines())
    for document in ("000", "001", "002", "003", "004", "005"):
        numbers = [int(row[0][4:]) for row in rows if row[0].startswith(document)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) > 10
    unproved = [row[0] for row in rows if not PROOF.search(row[2]) and REPLACED not in row[2]]
    assert unproved == []


def test_every_test_that_is_named_exists() -> None:
    named = PROOF.findall(PAGE)
    missing = [f"{path}::{name}" for path, name, _ in named if name not in names_in(path)]
    assert missing == []


def test_every_case_that_is_named_exists() -> None:
    known = {case.name for case in CASES}
    assert {case for _, _, case in PROOF.findall(PAGE) if case} <= known
