"""Links that hand a server to a client; they never carry a token."""

from __future__ import annotations

import base64
import json
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.clients.conftest import LOCAL
from tests.clients.samples import STDIO, URL
from toolyard.clients.entries import Remote, install_link
from toolyard.clients.table import CLIENTS

REMOTE = Remote(URL)
LINKED = [client for client in CLIENTS.values() if client.install]


def test_a_link_for_cursor_holds_the_entry() -> None:
    link = urlsplit(install_link(CLIENTS["cursor"], "demo", LOCAL) or "")
    assert (link.scheme, link.netloc) == ("cursor", "anysphere.cursor-deeplink")
    assert link.path == "/mcp/install"
    query = parse_qs(link.query)
    assert query["name"] == ["demo"]
    assert json.loads(base64.b64decode(query["config"][0])) == STDIO


@pytest.mark.parametrize("name", ["vscode", "vscode-insiders", "visual-studio"])
def test_a_link_for_visual_studio_holds_the_entry_and_its_name(name: str) -> None:
    link = install_link(CLIENTS[name], "demo", REMOTE) or ""
    entry = json.loads(unquote(link.partition("?")[2]))
    assert entry == {"name": "demo", "type": "http", "url": URL}


def test_goose_takes_only_servers_that_run_by_link() -> None:
    assert install_link(CLIENTS["goose"], "demo", LOCAL) is None
    link = urlsplit(install_link(CLIENTS["goose"], "demo", REMOTE) or "")
    assert parse_qs(link.query)["url"] == [URL]


@pytest.mark.parametrize("client", LINKED, ids=lambda client: client.id)
def test_no_link_carries_a_token_or_breaks_out_of_its_parameters(client: object) -> None:
    assert client in LINKED
    known = next(item for item in LINKED if item is client)
    assert install_link(known, "demo", Remote(URL, "TOOLYARD_TOKEN")) is None
    hostile = Remote("http://h/mcp?a=b&name=evil#x")
    link = install_link(known, "demo", hostile) or ""
    assert "#" not in link and link.count("name=evil") == 0
    assert all(
        names == ["demo"] for names in [parse_qs(urlsplit(link).query).get("name", ["demo"])]
    )
