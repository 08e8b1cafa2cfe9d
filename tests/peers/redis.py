"""A real redis-server of a test's own: no disk; stopped, paused, counted."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SERVER = shutil.which("redis-server") or shutil.which("valkey-server")
needs_redis = pytest.mark.skipif(SERVER is None, reason="redis-server is not installed")


class RedisServer:
    def __init__(self, folder: Path, *arguments: str, port: int = 0) -> None:
        self.socket = folder / "redis.sock"
        self.port = port
        self._folder = folder
        self._arguments = arguments
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}" if self.port else f"unix://{self.socket}"

    def start(self) -> None:
        assert SERVER is not None
        keeps_nothing = ("--save", "", "--appendonly", "no", "--dir", str(self._folder))
        where = ("--port", str(self.port), "--unixsocket", str(self.socket))
        with (self._folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(
                [SERVER, *keeps_nothing, *where, *self._arguments], stdout=log, stderr=log
            )
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "redis.log").read_text()
            time.sleep(0.01)

    def _answers(self) -> bool:
        try:
            return bool(self.ask("PING"))
        except OSError:
            return False

    def ask(self, *words: str) -> str:
        """The reply to one command, as it is sent; errors too."""
        packed = "".join(f"${len(word.encode())}\r\n{word}\r\n" for word in words)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            connection.connect(str(self.socket))
            connection.sendall(f"*{len(words)}\r\n{packed}".encode())
            reply = connection.recv(65536)
            if reply.startswith(b"$"):
                size = int(reply[1 : reply.index(b"\r\n")])
                while len(reply) < size:
                    reply += connection.recv(65536)
            return reply.decode(errors="replace")

    def commands(self) -> int:
        """How many it has done; those that count and watch are left out."""
        lines = self.ask("INFO", "commandstats").splitlines()
        stats = dict(line.split(":", 1) for line in lines if line.startswith("cmdstat_"))
        ours = (one for name, one in stats.items() if name not in ("cmdstat_info", "cmdstat_ping"))
        return sum(int(one.split(",")[0].removeprefix("calls=")) for one in ours)

    def pause(self) -> None:
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()
            self._process = None

    def _signal(self, number: int) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)


@contextmanager
def redis_server(*arguments: str, port: int = 0) -> Iterator[RedisServer]:
    # A socket's path must be short.
    with tempfile.TemporaryDirectory(prefix="ty-redis-") as folder:
        server = RedisServer(Path(folder), *arguments, port=port)
        server.start()
        try:
            yield server
        finally:
            server.kill()
