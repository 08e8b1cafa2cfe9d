"""Whose turn it is to accept: several processes listen on one socket, each takes its share.

With a queue for each process (SO_REUSEPORT) the kernel deals connections out by their
addresses: a few come to be far from even, and those that were dealt to a process that has just
crashed, or hangs, wait for it while others have nothing to do. With one queue for all nothing is
lost and nobody waits for one process; but whoever wakes first takes what is there, and on a
machine that is not busy that is nearly always the same one, with every connection that lives on.

So there is one queue, and a small table that all of them see. A process that holds more
connections than another leaves the next one to that other, for a moment: if it is still there
afterwards, whoever should have taken it is busy or hangs, and it is taken all the same.
"""

from __future__ import annotations

import mmap
import struct

_SLOT = struct.Struct("=qq")  # connections held, and accepted in all: one number to order by
_ABSENT = -1


class Turns:
    """The table, in memory that forked processes share. A slot is written by its owner alone."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._table = mmap.mmap(-1, _SLOT.size * count)
        for number in range(count):
            self.leave(number)

    def _slots(self) -> list[tuple[int, int]]:
        return [_SLOT.unpack_from(self._table, _SLOT.size * i) for i in range(self._count)]

    def enter(self, number: int) -> None:
        """A newcomer has taken as many as the others: it is not to be sent everything now."""
        self.note(number, 0, max(accepted for _, accepted in self._slots()))

    def leave(self, number: int) -> None:
        """Nobody waits for it any more."""
        self.note(number, _ABSENT, self._slots()[number][1])

    def note(self, number: int, held: int, accepted: int) -> None:
        _SLOT.pack_into(self._table, _SLOT.size * number, held, accepted)

    def accepted(self, number: int) -> int:
        return self._slots()[number][1]

    def is_mine(self, number: int) -> bool:
        slots = self._slots()
        mine = slots[number]
        return all(mine <= other for other in slots if other[0] != _ABSENT)
