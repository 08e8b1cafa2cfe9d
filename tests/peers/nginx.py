"""A real nginx of a test's own, round robin for each request."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.peers.ports import free_port

SERVER = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
needs_nginx = pytest.mark.skipif(SERVER is None, reason="nginx is not installed")

CONFIGURATION = """
daemon off; master_process off; worker_rlimit_nofile 8192;
pid {folder}/pid; error_log {folder}/error.log warn;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  {inside}
}}
"""
ROUND_ROBIN = """
  client_max_body_size 32m;
  upstream replicas {{ {servers} }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_buffering off;
      proxy_read_timeout 1h;
    }}
  }}
"""


@contextmanager
def balancer(origins: Sequence[str]) -> Iterator[str]:
    """The URL of /mcp behind it."""
    places = (origin.removeprefix("http://") for origin in origins)
    # One that was away for a moment is asked again at the next request. A connection for each:
    # what is written to one that is being closed fails, though nobody has read it.
    servers = " ".join(f"server {place} max_fails=0;" for place in places)
    with nginx(lambda port: ROUND_ROBIN.format(servers=servers, port=port)) as url:
        yield url


@contextmanager
def nginx(inside: Callable[[int], str]) -> Iterator[str]:
    """The URL of /mcp there. `inside`: what its `http` has, given the port to listen on."""
    with tempfile.TemporaryDirectory(prefix="ty-nginx-") as folder:
        process, port = _started(Path(folder), inside)
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()
            process.wait()


def _started(folder: Path, inside: Callable[[int], str]) -> tuple[subprocess.Popen[bytes], int]:
    """On a port that nobody else has taken meanwhile."""
    assert SERVER is not None
    file, errors = folder / "nginx.conf", folder / "error.log"
    while True:
        port = free_port()
        file.write_text(CONFIGURATION.format(folder=folder, inside=inside(port)))
        process = subprocess.Popen([SERVER, "-c", str(file), "-p", str(folder)])
        while process.poll() is None:
            if (folder / "pid").exists():  # which is written when it listens
                return process, port
            time.sleep(0.01)
        assert "Address already in use" in errors.read_text(), errors.read_text()
