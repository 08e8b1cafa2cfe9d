"""The pipes of a server that is a child process, as it finds them."""

from __future__ import annotations

import sys

import pytest

from tests.until import until
from toolyard.processes.lasting import PIPE_SIZE, Child, Program, Unguarded

SAYS_ITS_ROOM = """
import fcntl, os
print(*(fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ) for fd in (0, 1)), flush=True)
os.write(1, b"x" * 200_000 + b"\\n")
os.read(0, 1)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there a pipe can be made larger")
async def test_a_large_message_fits_into_the_pipes_of_a_server() -> None:
    lines: list[bytes | bytearray] = []
    program = Program(sys.executable, ("-c", SAYS_ITS_ROOM))
    child = Child(program, lines.append, lambda _why: None, max_line=1 << 20, guard=Unguarded())
    child.start()
    try:
        await until(lambda: len(lines) == 2)
    finally:
        await child.stop()
    assert lines == [b"%d %d" % (PIPE_SIZE, PIPE_SIZE), b"x" * 200_000]
