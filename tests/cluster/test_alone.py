"""A process that is alone pays for nothing of this."""

from __future__ import annotations

import subprocess
import sys

from tests.peers.serving import environment


def test_a_process_on_its_own_imports_nothing_of_a_cluster() -> None:
    program = "import sys, toolyard.app.serving.over_http; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    modules = done.stdout.split()
    parts = ("toolyard.cluster", "toolyard.transports.endpoint.keeping", "redis")
    shared = [name for name in modules if name.startswith(parts)]
    assert shared == []
    assert "toolyard.transports.endpoint.elsewhere" not in modules
    assert "cryptography" not in modules
