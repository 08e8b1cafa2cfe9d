"""A real nginx of a test's own, round robin for each request."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

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
}}
"""


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@contextmanager
def balancer(origins: Sequence[str]) -> Iterator[str]:
    """The URL of /mcp behind it."""
    assert SERVER is not None
    port = free_port()
    places = (origin.removeprefix("http://") for origin in origins)
    # One that was away for a moment is asked again at the next request. A connection for each:
    # what is written to one that is being closed fails, though nobody has read it.
    servers = " ".join(f"server {place} max_fails=0;" for place in places)
    with tempfile.TemporaryDirectory(prefix="ty-nginx-") as folder:
        file = Path(folder) / "nginx.conf"
        file.write_text(CONFIGURATION.format(folder=folder, servers=servers, port=port))
        process = subprocess.Popen([SERVER, "-c", str(file), "-p", folder])
        try:
            while not _listens(port):
                assert process.poll() is None, (Path(folder) / "error.log").read_text()
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()
            process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
