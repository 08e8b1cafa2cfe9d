"""Measure everything and write the tables of docs/performance.md; all around them stays.

make bench                          all of it (peers are installed under .cache/bench)
python -m bench start http          some of it, printed only
python -m bench --write start http  some of it, written too
"""

from __future__ import annotations

import argparse
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
PICTURED = "gateway"
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write some of it, as all of it is")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(SECTIONS))
    options = parser.parse_intermixed_args()
    if unknown := [name for name in options.parts if name not in SECTIONS]:
        parser.error(f"no such part: {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    for name in options.parts or SECTIONS:
        text = shown(measured(name))
        print(f"## {SECTIONS[name]}\n\n{text}\n", flush=True)
        if options.write or not options.parts:
            write(name, text)
    return 0


def write(section: str, text: str) -> None:
    """At once: what was measured stays if a later part cannot be."""
    page = placed(PAGE.read_text(), "machine", machine())
    PAGE.write_text(placed(page, section, text))
    if section == PICTURED:
        draw()


if __name__ == "__main__":
    sys.exit(main())
