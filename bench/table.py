"""Work in rows, gateways in columns: every cell is measured in its turn, round by round."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence

from bench.load import Contender

PATIENCE = 60.0  # seconds for a round
LEGEND = (
    "CPU of the gateway a call in µs; calls a second. The best of the rounds, and in brackets "
    "their middle."
)
Row = dict[str, Contender]  # by gateway


async def take_turns(rows: Mapping[str, Row], rounds: int) -> None:
    """Whoever fails is asked nothing more; the reason is printed, and what it did counts."""
    failed = set[str]()  # the URLs: a process that hangs at one thing hangs at all of them
    for _ in range(rounds):
        for what, row in rows.items():
            for contender in row.values():
                if contender.url in failed:
                    continue
                try:
                    async with asyncio.timeout(PATIENCE):
                        await contender.run()
                except (AssertionError, OSError, TimeoutError) as error:
                    print(f"{contender.what} failed at {what}: {error!r:.300}", file=sys.stderr)
                    failed.add(contender.url)


def table(head: str, rows: Mapping[str, Row], names: Sequence[str]) -> list[str]:
    return [
        f"| {head} | {' | '.join(names)} |",
        "|---" * (len(names) + 1) + "|",
        *(
            f"| {what} | {' | '.join(cell(row.get(name)) for name in names)} |"
            for what, row in rows.items()
        ),
    ]


def cell(contender: Contender | None) -> str:
    if contender is None or not contender.rounds:
        return "-"
    best, middle = contender.best, contender.middle
    return f"{best.cpu_us:,.0f} ({middle.cpu_us:,.0f}); {best.rate:,.0f} ({middle.rate:,.0f})"


def cpu_times(one: Contender, other: Contender) -> str:
    """The CPU of one as a multiple of the other's, by the best of the rounds and their middle."""
    best, middle = (
        getattr(one, which).cpu_us / getattr(other, which).cpu_us for which in ("best", "middle")
    )
    return f"{best:.2f} ({middle:.2f})"
