"""Run every check that can fail the build: format, lint, types, import contracts, sizes."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50
PYTHON_FOLDERS = ("src", "tests", "scripts", "bench")

COMMANDS: tuple[tuple[str, list[str | Path]], ...] = (
    ("format", [BIN / "ruff", "format", "--check", "."]),
    ("lint", [BIN / "ruff", "check", "."]),
    ("types", [BIN / "mypy"]),
    ("imports", [BIN / "lint-imports"]),
    ("page", [BIN / "biome", "ci", "--colors=off"]),
)


def main() -> int:
    failed = [name for name, command in COMMANDS if not passes(name, command)]
    oversized = list(all_oversized())
    print("\n".join(oversized) or "sizes: ok")
    if oversized:
        failed.append("sizes")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def passes(name: str, command: list[str | Path]) -> bool:
    print(f"{name}:", flush=True)
    return subprocess.run([str(part) for part in command], cwd=ROOT).returncode == 0


def all_oversized() -> Iterator[str]:
    for folder in PYTHON_FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield from oversized_in(path)


def oversized_in(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    shown = path.relative_to(ROOT)
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{shown}: {lines} lines, at most {MAX_FILE_LINES}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                place = f"{shown}:{node.lineno}: {node.name}"
                yield f"{place} has {length} lines, at most {MAX_FUNCTION_LINES}"


if __name__ == "__main__":
    sys.exit(main())
