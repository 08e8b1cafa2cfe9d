"""Keep what this process knows from the processes that it starts (Linux).

Its environment and memory hold the tokens of the operator. Children run as the same user,
who may read both in /proc unless the process is marked as one that is not to be dumped.
What they start themselves is not affected: the mark ends where a program begins.
"""

from __future__ import annotations

import sys
from functools import cache

PR_SET_DUMPABLE = 4


@cache
def keep_to_ourselves() -> None:
    if sys.platform != "linux":
        return
    try:
        import _ctypes  # noqa: PLC0415 (all of ctypes takes 20 ms, which no start should pay for)
    except ImportError:
        return
    ourselves = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]
    prctl = _ctypes.dlsym(ourselves, "prctl")
    _ctypes.call_function(prctl, (PR_SET_DUMPABLE, 0, 0, 0, 0))
