"""Draw docs/pictures/performance.svg, the one picture of the README, from docs/performance.md.

python -m bench.picture     `make bench` does it too
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import escape

from bench.floors import FLOORS
from bench.peers import ROOT

PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "pictures" / "performance.svg"
OURS, NAME = "ours, client 2025-11-25", "Toolyard"
WIDTH, LEFT, RIGHT, ROW, TOP = 720, 190, 90, 30, 46
STYLE = (
    "text{font:14px system-ui,sans-serif;fill:#1f2328}.peer{fill:#8c959f}.ours{fill:#0a7d4f}"
    ".title{font-weight:600}.name{text-anchor:end}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.peer{fill:#6e7681}.ours{fill:#3fb950}}"
)
_ROW = re.compile(
    r"^\| (?P<who>[^|]+?)(?: \(goal[^|]*)? \| (?P<cpu>[\d,]+)(?: \([\d,]+\))? \|", re.MULTILINE
)
OTHER_WORK = "upstream over HTTP"


def figures(page: str) -> dict[str, int]:
    """CPU of a call through each gateway, in microseconds, as the page has it."""
    table = page.partition("<!-- measured: gateway -->")[2].partition("<!-- end -->")[0]
    all_rows = {row["who"]: int(row["cpu"].replace(",", "")) for row in _ROW.finditer(table)}
    peers = {
        who: cpu
        for who, cpu in all_rows.items()
        if not (who.startswith("ours") or who.endswith(OTHER_WORK) or who in FLOORS)
    }
    return {NAME: all_rows[OURS], **peers}


def drawn(costs: dict[str, int]) -> str:
    height = TOP + ROW * len(costs) + 10
    scale = (WIDTH - LEFT - RIGHT) / max(costs.values())
    title = "CPU of one call through a gateway, in microseconds"
    bars = [bar(number, who, cpu, scale) for number, (who, cpu) in enumerate(costs.items())]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            f"<title>{title}: {', '.join(f'{who} {cpu:,}' for who, cpu in costs.items())}</title>",
            f"<style>{STYLE}</style>",
            f'<text class="title" x="16" y="24">{title}</text>',
            *bars,
            "</svg>\n",
        )
    )


def bar(number: int, who: str, cpu: int, scale: float) -> str:
    y, width = TOP + ROW * number, max(2.0, cpu * scale)
    kind = "ours" if who == NAME else "peer"
    return (
        f'<text class="name" x="{LEFT - 10}" y="{y + 16}">{escape(who)}</text>'
        f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{width:.1f}" height="22" rx="3"/>'
        f'<text x="{LEFT + width + 8:.1f}" y="{y + 16}">{cpu:,}</text>'
    )


def draw(page: Path = PAGE, picture: Path = PICTURE) -> None:
    picture.write_text(drawn(figures(page.read_text())))


if __name__ == "__main__":
    draw()
