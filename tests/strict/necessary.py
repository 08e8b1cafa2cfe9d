"""What the revisions themselves make impossible, with the reason for each: no other loss is right.

In these pairings a check must end with whoever asked being told, or with the nearest form that
the other side has; never in silence and never in a message that the other side's revision has not.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.strict.pairing import Peer
from tests.strict.schema import MODERN

FIRST = "2024-11-05"


@dataclass(frozen=True)
class Loss:
    feature: str
    clients: tuple[str, str]  # from and to
    upstreams: tuple[str, str]
    why: str
    http_client: bool = False  # only there
    http_upstream: bool = False

    def covers(self, feature: str, us: Peer, up: Peer) -> bool:
        return (
            feature == self.feature
            and self.clients[0] <= us.revision <= self.clients[1]
            and self.upstreams[0] <= up.revision <= self.upstreams[1]
            and (us.transport == "http" or not self.http_client)
            and (up.transport == "http" or not self.http_upstream)
        )


ANY = (FIRST, MODERN)
TO_MARCH, TO_JUNE, TO_NOVEMBER = (FIRST, "2025-03-26"), (FIRST, "2025-06-18"), (FIRST, "2025-11-25")
FROM_MARCH, FROM_JUNE = ("2025-03-26", MODERN), ("2025-06-18", MODERN)
FROM_NOVEMBER, NEWEST = ("2025-11-25", MODERN), (MODERN, MODERN)
NOVEMBER = ("2025-11-25", "2025-11-25")
OLDEST = (FIRST, FIRST)

NECESSARY = (
    Loss("audio block", OLDEST, FROM_MARCH, "no audio before 2025-03-26: text in its place"),
    Loss("link block", TO_MARCH, FROM_JUNE, "no links before 2025-06-18: text in its place"),
    Loss("audio in a prompt", OLDEST, FROM_MARCH, "no audio before 2025-03-26: text in its place"),
    Loss("link in a prompt", TO_MARCH, FROM_JUNE, "no links before 2025-06-18: text in its place"),
    Loss("structured content", TO_MARCH, FROM_JUNE, "none before 2025-06-18: the text alone"),
    Loss(
        "structured content of any kind",
        TO_NOVEMBER,
        NEWEST,
        "an object only before 2026-07-28: the text alone",
    ),
    Loss("progress message", OLDEST, FROM_MARCH, "no message before 2025-03-26"),
    Loss("completion in context", FROM_JUNE, TO_MARCH, "no context before 2025-06-18"),
    *(
        Loss(f"elicitation, {end}", TO_MARCH, FROM_JUNE, "no elicitation before 2025-06-18")
        for end in ("accepted", "declined", "cancelled")
    ),
    Loss(
        "elicitation, titled choices", TO_MARCH, FROM_NOVEMBER, "no elicitation before 2025-06-18"
    ),
    Loss(
        "elicitation, several choices",
        TO_MARCH,
        FROM_NOVEMBER,
        "no elicitation before 2025-06-18",
    ),
    Loss("elicitation by URL", TO_JUNE, FROM_NOVEMBER, "no URLs before 2025-11-25"),
    Loss("elicitation/complete", TO_JUNE, NOVEMBER, "no URLs before 2025-11-25"),
    Loss("elicitation/complete", NEWEST, NOVEMBER, "2026-07-28 has no such notification"),
    Loss("URL required first", TO_JUNE, NOVEMBER, "no URLs before 2025-11-25"),
    Loss("sampling, audio asked", OLDEST, FROM_MARCH, "no audio before 2025-03-26"),
    Loss("sampling, audio answered", FROM_MARCH, OLDEST, "no audio before 2025-03-26"),
    Loss("sampling, many blocks asked", TO_JUNE, FROM_NOVEMBER, "one block before 2025-11-25"),
    Loss("sampling, many blocks answered", FROM_NOVEMBER, TO_JUNE, "one block before 2025-11-25"),
    Loss("sampling with tools", TO_JUNE, FROM_NOVEMBER, "no tools before 2025-11-25"),
    Loss("sampling, refused", TO_NOVEMBER, NEWEST, "2026-07-28 has no error as an answer"),
    Loss("roots/list_changed", TO_NOVEMBER, NEWEST, "2026-07-28 asks for roots each time"),
    Loss(
        "reason of a cancellation",
        NEWEST,
        ANY,
        "2026-07-28 over HTTP cancels by closing the stream",
        http_client=True,
    ),
    Loss(
        "reason of a cancellation",
        ANY,
        NEWEST,
        "2026-07-28 over HTTP cancels by closing the stream",
        http_upstream=True,
    ),
)


def necessary(feature: str, us: Peer, up: Peer) -> Loss | None:
    return next((loss for loss in NECESSARY if loss.covers(feature, us, up)), None)
