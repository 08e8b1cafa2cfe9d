"""What a store can do, whichever it is: records, leases, streams of events, allowances, groups.

Every method that goes to the store is a trip with a deadline: it ends within seconds with an
answer or with StoreError. While the store is away trips fail at once, without waiting; it is
looked for in the background, and whoever asked `on_return` is told when it is back. Nothing is
tried again by itself: after StoreError a write may have happened or not, so all of them may be
repeated without harm.

Names are text. What is written under a lease must have the lease's tag, which is the part of a
name in braces (`session:{4f2a}` and `session:{4f2a}:events`): a Redis Cluster keeps it together.

A lease says who alone may do something, for so many seconds. It is lost when it is not renewed
in time, and the one who held it can tell without asking: `lease.valid()` ends, by this process's
own clock, before anybody else can take it. What was lost cannot be written under any more: the
store compares the lease with each such write, and LeaseLost is raised.

    nobody ──take──> held ──renew──> held ──release or time──> nobody

Events are numbered by who writes them, upwards. An event whose number is not above the last is
left out, so that an append can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple, Protocol

from toolyard.errors import ToolyardError

ABSENT = b""


class StoreError(ToolyardError):
    """The store did not do it, or did not say so in time. The text says why, for an operator."""


class LeaseLost(ToolyardError):
    """Somebody else may hold it by now: stop."""


class Record(NamedTuple):
    value: bytes
    version: bytes


class Event(NamedTuple):
    number: int
    data: bytes


class Cap(NamedTuple):
    """How much of a stream is kept: so many of the last events, so long after the last."""

    events: int
    seconds: float


class Rate(NamedTuple):
    """So many in so many seconds; they come evenly, and no more than all at once."""

    most: int
    seconds: float


class Allowance(NamedTuple):
    granted: int
    wait: float  # seconds until there is one more; 0 where something was granted


@dataclass(frozen=True, slots=True)
class Lease:
    name: str
    holder: str
    fence: int  # grows with each new holder
    # By this process's clock: counted from before the trip, so never later than the store's.
    until: float = field(compare=False)

    def valid(self) -> bool:
        return monotonic() < self.until


@dataclass(frozen=True, slots=True)
class StoreCondition:
    """How the store is doing."""

    place: str  # its address, without a password
    reachable: bool
    since: float  # when it became so; seconds since 1970
    error: str = ""  # the last one, while it lasts


class Store(Protocol):
    @property
    def condition(self) -> StoreCondition: ...

    def on_return(self, callback: Callable[[], None]) -> None:
        """Call it whenever the store is back after it was away: it may have lost everything."""

    async def close(self) -> None: ...

    # -- records -----------------------------------------------------------------------

    async def read(self, *names: str) -> list[Record | None]:
        """Several in one trip."""

    async def write(
        self,
        name: str,
        value: bytes,
        seconds: float,
        *,
        version: bytes | None = None,
        lease: Lease | None = None,
    ) -> bytes | None:
        """Keep it for so long; its new version.

        With a version only where the record still has that one (ABSENT: where there is none),
        else None and nothing is done. Raises LeaseLost.
        """

    async def erase(
        self, name: str, *, version: bytes | None = None, lease: Lease | None = None
    ) -> bool:
        """False where there was nothing, or another version. Raises LeaseLost."""

    # -- leases ------------------------------------------------------------------------

    async def take(self, name: str, holder: str, seconds: float) -> Lease | None:
        """None where somebody else holds it. Who holds it already has it renewed."""

    async def renew(self, leases: Sequence[Lease], seconds: float) -> list[Lease | None]:
        """Any number in one trip; None for each that is lost."""

    async def release(self, lease: Lease) -> bool:
        """False where it was lost before."""

    async def held(self, name: str) -> Lease | None:
        """The lease as whoever holds it at this moment has it; valid for nobody else."""

    # -- streams -----------------------------------------------------------------------

    async def append(
        self,
        name: str,
        events: Sequence[Event],
        cap: Cap,
        *,
        oldest: int = 0,
        lease: Lease | None = None,
    ) -> None:
        """Add events, forget those over the cap or below the oldest. Raises LeaseLost."""

    async def events(self, name: str, after: int, wait: float = 0) -> list[Event]:
        """Those with higher numbers; where there are none, the first to come within the wait."""

    # -- allowances --------------------------------------------------------------------

    async def allow(self, name: str, rate: Rate, wanted: int) -> Allowance:
        """As many as there are, at most those wanted."""

    async def give_back(self, name: str, rate: Rate, unused: int) -> None: ...

    async def occupy(
        self, name: str, holder: str, wanted: int, *, most: int, seconds: float
    ) -> int:
        """How many of `most` seats the holder has from now on; forgotten if not repeated in time.

        As many as it wants where the others leave them; what it has already is never taken away.
        """

    # -- groups ------------------------------------------------------------------------

    async def join(self, group: str, member: str, value: bytes, seconds: float) -> None:
        """Be among its members for so long; repeat it to stay."""

    async def leave(self, group: str, member: str) -> None: ...

    async def members(self, group: str) -> Mapping[str, bytes]: ...


def tag_of(name: str) -> str:
    """What decides where in a cluster something is: the part in braces, else the whole name."""
    begin = name.find("{")
    end = name.find("}", begin + 1)
    return name[begin + 1 : end] if 0 <= begin < end - 1 else name


def check_tag(name: str, lease: Lease | None) -> None:
    if lease is not None and tag_of(name) != tag_of(lease.name):
        raise ValueError(f"{name} does not have the tag of the lease {lease.name}")
