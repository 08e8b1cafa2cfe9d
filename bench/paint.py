"""How soon the page shows something, and what it fetches for that: here, and in another checkout.

    python -m bench.paint [--before FOLDER] [--rounds 15]

A real Chromium opens each screen in a window that has nothing in its cache, the pages in turns.
Each figure is the median over the rounds, with the best in brackets: until the first text is
painted (as the browser says), until the first row is on the screen, and what came over the wire
until then. The other checkout needs its page built; its sources serve it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Browser

from bench.http import free_port, reachable
from bench.peers import ROOT, environment
from tests.web.browser import chromium

LINK = re.compile(r"(http\S+)/#token=(\S+)")
# Name, what is served there, the place in the page, and its first row.
SCREENS = (
    ("overview", "few", "#/", ".server"),
    ("Explore", "few", "#/explore", ".outline-row"),
    ("overview of 2,000 tools", "many", "#/", ".server"),
    ("Explore with 2,000 tools", "many", "#/explore", ".outline-row"),
)
# When the row stands in the document it is painted with the next frame.
WATCH = """([token, selector]) => {
  sessionStorage.setItem('toolyard-token', token);
  window.firstRow = new Promise((found) => {
    const look = () => {
      if (!document.querySelector(selector)) return;
      watcher.disconnect();
      requestAnimationFrame(() => setTimeout(() => found(performance.now())));
    };
    const watcher = new MutationObserver(look);
    watcher.observe(document, { childList: true, subtree: true });
  });
}"""
FIGURES = """async () => {
  const row = await window.firstRow;
  const paint = await new Promise((painted) => {
    new PerformanceObserver((list) => {
      for (const one of list.getEntriesByName('first-contentful-paint')) painted(one.startTime);
    }).observe({ type: 'paint', buffered: true });
  });
  const fetched = performance.getEntriesByType('resource')
    .filter((one) => one.responseEnd > 0 && one.responseEnd <= row);
  const html = performance.getEntriesByType('navigation')[0];
  return { paint, row, requests: fetched.length + 1,
    bytes: [html, ...fetched].reduce((sum, one) => sum + one.transferSize, 0) };
}"""
COLUMNS = (("first paint, ms", "paint"), ("first row, ms", "row"))


@dataclass(slots=True)
class Side:
    """A checkout, and what opening its screens took: a list of rounds for each."""

    name: str
    sources: Path
    taken: dict[str, list[dict[str, float]]] = field(default_factory=dict)

    def median(self, screen: str, what: str) -> float:
        return statistics.median(one[what] for one in self.taken[screen])

    def best(self, screen: str, what: str) -> float:
        return min(one[what] for one in self.taken[screen])


@dataclass(frozen=True, slots=True)
class Site:
    origin: str
    token: str


def started(sources: Path, words: list[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "toolyard", "serve", *words]
    env = {**environment(), "PYTHONPATH": str(sources / "src")}
    return subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)


@asynccontextmanager
async def serving(sources: Path, registry: Path, project: Path) -> AsyncIterator[Site]:
    port = free_port()
    words = [str(registry), "--project-root", str(project), "--http", str(port)]
    process = started(sources, words)
    assert process.stderr is not None
    try:
        await reachable(port)
        said = process.stderr.readline() + process.stderr.readline()
        link = LINK.search(said)
        assert link is not None, said
        yield Site(link[1], link[2])
    finally:
        process.terminate()
        process.communicate()


async def open_once(browser: Browser, site: Site, place: str, row: str) -> dict[str, float]:
    context = await browser.new_context(viewport={"width": 1440, "height": 900})
    try:
        page = await context.new_page()
        await page.add_init_script(f"({WATCH})({json.dumps([site.token, row])})")
        await page.goto(f"{site.origin}/{place}")
        found: dict[str, float] = await page.evaluate(FIGURES)
        return found
    finally:
        await context.close()


def registry(folder: Path, name: str, tools: int) -> Path:
    path = folder / f"{name}.json"
    entries = [
        {"name": f"tool_{n}", "source": "greet", "description": f"The {n}th of many"}
        for n in range(tools)
    ]
    path.write_text(json.dumps({"tools": entries}))
    return path


async def measure(sides: list[Side], rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        served = {"few": 10, "many": 2000}
        files = {name: registry(Path(folder), name, count) for name, count in served.items()}
        project = ROOT / "examples" / "demo"
        async with AsyncExitStack() as stack:
            sites = {
                (side.name, name): await stack.enter_async_context(
                    serving(side.sources, file, project)
                )
                for side in sides
                for name, file in files.items()
            }
            browser = await stack.enter_async_context(chromium())
            for number in range(rounds + 1):
                for screen, what, place, row in SCREENS:
                    for side in sides if number % 2 else reversed(sides):
                        taken = await open_once(browser, sites[side.name, what], place, row)
                        if number:  # the first round wakes everything up
                            side.taken.setdefault(screen, []).append(taken)


def table(sides: list[Side]) -> list[str]:
    names = [name for name, _ in COLUMNS]
    rows = [f"| screen | {' | '.join(names)} | requests | kB |", "|---" * (len(names) + 3) + "|"]
    for screen, *_ in SCREENS:
        cells = [
            " → ".join(f"{side.median(screen, what):.0f}" for side in sides)
            + f" ({' → '.join(f'{side.best(screen, what):.0f}' for side in sides)})"
            for _, what in COLUMNS
        ]
        requests = " → ".join(f"{side.median(screen, 'requests'):.0f}" for side in sides)
        size = " → ".join(f"{side.median(screen, 'bytes') / 1000:.0f}" for side in sides)
        rows.append(f"| {screen} | {' | '.join(cells)} | {requests} | {size} |")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    before = [Side("before", options.before.resolve())] if options.before else []
    sides = [*before, Side("here", ROOT)]
    asyncio.run(measure(sides, options.rounds))
    print("\n".join(table(sides)))


if __name__ == "__main__":
    main()
