"""Numbers by label, so many series and no more. Knows no MCP, and costs a call a microsecond.

What would be a series too many is added to one whose labels say `other`, and counted: names come
from clients and from other servers, and must not fill the memory.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

OTHER = "other"
# Upper ends in seconds: a tool may take less than a millisecond, or minutes.
BOUNDS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0),
)
_FEW = 16
# The values of a metric's labels, in the order of their names.
Key: TypeAlias = tuple[str, ...]
MetricKind = Literal["counter", "gauge", "histogram"]
NumbersT = TypeVar("NumbersT")


class Histogram:
    """How many durations fell between which bounds."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.total = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def add_all(self, durations: Sequence[float]) -> None:
        """The same for many, which is cheaper than one by one."""
        if len(durations) < _FEW:
            for seconds in durations:
                self.add(seconds)
            return
        ordered, below = sorted(durations), 0
        for index, bound in enumerate(BOUNDS):
            up_to = bisect_right(ordered, bound, below)
            self.counts[index] += up_to - below
            below = up_to
        self.counts[-1] += len(ordered) - below
        self.total += sum(ordered)


class Point(NamedTuple):
    """One series of a metric at one moment."""

    labels: Key
    value: float | Histogram


class Metric(NamedTuple):
    """A metric as it is shown: whoever shows it needs to know nothing else."""

    name: str
    kind: MetricKind
    meaning: str
    label_names: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()


class Series(Generic[NumbersT]):
    """What is counted for each set of labels. `fold` gives the labels that say `other`."""

    def __init__(self, make: Callable[[], NumbersT], fold: Callable[[Key], Key], most: int) -> None:
        self._make = make
        self._fold = fold
        self._most = most
        self._by_key: dict[Key, NumbersT] = {}
        self.folded_count = 0

    def __len__(self) -> int:
        return len(self._by_key)

    def get(self, key: Key) -> NumbersT | None:
        return self._by_key.get(key)

    def at(self, key: Key, count: int = 1) -> NumbersT:
        """The numbers of these labels, to add so many; or of `other` once there are too many."""
        numbers = self._by_key.get(key)
        if numbers is not None:
            return numbers
        if len(self._by_key) >= self._most:
            self.folded_count += count
            key = self._fold(key)
        return self._by_key.setdefault(key, self._make())

    def items(self) -> Iterable[tuple[Key, NumbersT]]:
        """As they are now: more may come while they are shown."""
        return tuple(self._by_key.items())


def single(name: str, kind: MetricKind, meaning: str, value: float) -> Metric:
    """A metric without labels."""
    return Metric(name, kind, meaning, (), (Point((), value),))


def labelled(
    name: str, kind: MetricKind, meaning: str, label: str, values: Mapping[str, float]
) -> Metric:
    """A metric with one label."""
    points = tuple(Point((text,), value) for text, value in values.items())
    return Metric(name, kind, meaning, (label,), points)
