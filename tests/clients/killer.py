"""Link in a child that is killed right before its nth system call; again for every n.

Usage: killer.py FILE CLIENT. Prints one line a child: its number, and `old` or the file's bytes.
The children are forks of one process: a start each would take minutes.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
from types import FrameType
from typing import Any

from toolyard.clients.entries import Local
from toolyard.clients.linking import ClientFile, perform, plan_link
from toolyard.clients.records import LinkRecords
from toolyard.clients.table import CLIENTS

PURE = {"fspath", "_path_normpath", "lstat", "stat", "getpid"}  # they change nothing
CALLS = {"write", "flush", "close", "open", "__exit__"}


def main() -> int:
    path, client = sys.argv[1:]
    state = f"{os.path.dirname(path)}/state"
    with open(path, "rb") as stream:
        old = stream.read()
    new = None
    for number in range(1, 1000):
        pid = os.fork()
        if pid == 0:
            _link(path, client, state, number)
        _, status = os.waitpid(pid, 0)
        with open(path, "rb") as stream:
            now = stream.read()
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, status
            new = now
            print(number, "done", flush=True)
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
        print(number, "old" if now == old else now.hex(), flush=True)
        _reset(path, old, state)
    print("new", (new or b"").hex())
    return 0


def _reset(path: str, old: bytes, state: str) -> None:
    shutil.rmtree(state, ignore_errors=True)
    with open(path, "wb") as stream:
        stream.write(old)


def _link(path: str, client: str, state: str, number: int) -> None:
    count = 0

    def look(frame: FrameType, event: str, call: Any) -> None:
        nonlocal count
        if event != "c_call":
            return
        is_system_call = getattr(call, "__module__", "") == "posix" and call.__name__ not in PURE
        is_stream = isinstance(getattr(call, "__self__", None), io.IOBase)
        if is_system_call or (is_stream and call.__name__ in CALLS):
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

    records = LinkRecords(state)
    edit = plan_link(
        ClientFile(CLIENTS[client], path), "demo", Local("/bin/t", ("serve", "/p")), records
    )
    sys.setprofile(look)
    perform(edit, records)
    sys.setprofile(None)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
