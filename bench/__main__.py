"""Measure everything and write docs/performance.md.

make bench                  all of it (peers are installed under .cache/bench)
python -m bench start http  some of it, printed only
"""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

from bench.peers import ROOT, environment

SECTIONS = {
    "start": "Starting",
    "changes": "Changes in a large project",
    "scripts": "Calling a bash script",
    "http": "Calling over HTTP",
    "gateway": "The gateway's hop",
    "sizes": "Large payloads, large catalogs",
    "connections": "Many connections to the gateway",
    "page": "What the page costs",
    "projection": "Projecting a large result",
    "registry": "Loading a registry",
    "auth": "Finding out who is calling",
    "context": "What a model has to read",
}
HEAD = """# Performance

Measured by `make bench`, which writes this page. What counts is the ratio to a peer or to a
floor in the same run: absolute figures depend on the machine and on what else it does.

"""


def measured(section: str) -> str:
    print(f"measuring {section}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", f"bench.{section}"]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return "This part could not be measured.\n"
    return done.stdout


def shown(section: str, text: str) -> str:
    body = text if text.lstrip().startswith("|") else f"```\n{text.rstrip()}\n```\n"
    return f"## {SECTIONS[section]}\n\n{body.rstrip()}\n"


def main(wanted: list[str]) -> int:
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        print(f"no such part: {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
        return 2
    parts = [shown(name, measured(name)) for name in wanted or SECTIONS]
    page = "\n".join(parts)
    print(page)
    if not wanted:
        # Which build it is matters: one without profile-guided optimisation is a sixth slower.
        build = f"{platform.python_version()} ({Path(sys.executable).resolve()})"
        machine = f"{platform.python_implementation()} {build}, "
        machine += f"{platform.system()} on {platform.machine()}\n\n"
        (ROOT / "docs" / "performance.md").write_text(HEAD + machine + page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
