"""Measure everything and write the tables of docs/performance.md; all around them stays.

make bench                  all of it (peers are installed under .cache/bench)
python -m bench start http  some of it, printed only
"""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

from bench.peers import ROOT, environment
from bench.picture import PAGE, draw

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
END = "<!-- end -->"


def measured(section: str) -> str:
    print(f"measuring {section}", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", f"bench.{section}"]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return "This part could not be measured.\n"
    print(done.stderr, end="", file=sys.stderr)  # who was left out, and why
    return done.stdout


def shown(text: str) -> str:
    return text.rstrip() if text.lstrip().startswith("|") else f"```\n{text.rstrip()}\n```"


def placed(page: str, section: str, text: str) -> str:
    """The page with this between the marks of that section; a new section comes last."""
    mark = f"<!-- measured: {section} -->"
    head, opened, rest = page.partition(mark)
    if not opened:
        head, rest = f"{page.rstrip()}\n\n## {SECTIONS[section]}\n\n", f"{END}\n"
    before, closed, after = rest.partition(END)
    if not closed:
        raise SystemExit(f"{PAGE}: {mark} has no {END} (it holds {before[:40]!r}...)")
    return f"{head}{mark}\n\n{text}\n\n{END}{after}"


def machine() -> str:
    # Which build it is matters: one without profile-guided optimisation is a sixth slower.
    build = f"{platform.python_version()} ({Path(sys.executable).resolve()})"
    system = f"{platform.system()} on {platform.machine()}"
    return f"{platform.python_implementation()} {build}, {system}"


def main(wanted: list[str]) -> int:
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        print(f"no such part: {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
        return 2
    page = placed(PAGE.read_text(), "machine", machine())
    for name in wanted or SECTIONS:
        text = shown(measured(name))
        print(f"## {SECTIONS[name]}\n\n{text}\n", flush=True)
        page = placed(page, name, text)
    if not wanted:
        PAGE.write_text(page)
        draw()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
