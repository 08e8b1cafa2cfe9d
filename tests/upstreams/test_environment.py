"""What a server that we start finds in its environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.program import toolyard

pytestmark = pytest.mark.long

TELLING = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {
            "name": "telling", "version": "1"}, "instructions": json.dumps(dict(os.environ))}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def test_proxies_and_certificates_reach_a_server_and_secrets_do_not(tmp_path: Path) -> None:
    (tmp_path / "telling.py").write_text(TELLING)
    ours = {
        "HTTPS_PROXY": "http://proxy.example:3128",
        "no_proxy": "localhost",
        "SSL_CERT_FILE": "/etc/company.pem",
        "NODE_EXTRA_CA_CERTS": "/etc/company.pem",
    }
    done = toolyard(
        *("inspect", "--json", sys.executable, tmp_path / "telling.py"),
        env={**ours, "API_TOKEN": "secret"},
    )
    theirs = json.loads(done.json["instructions"])
    assert {name: theirs.get(name) for name in ours} == ours
    assert "API_TOKEN" not in theirs
