"""The checks are fair: a strict client that talks to a strict server of its own revision loses
nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.peers.serving import listening
from tests.strict.client import abilities, over_stdio
from tests.strict.client_http import over_http, over_pair
from tests.strict.conversation import Place
from tests.strict.pairing import Pairing, Peer
from tests.strict.schema import REVISIONS, absent
from tests.strict.test_matrix import ABLE, PEERS, Table, compare, upstream_name

pytestmark = pytest.mark.long

SERVER = [sys.executable, "-m", "tests.strict.server"]


@pytest.mark.parametrize("peer", PEERS, ids=str)
async def test_a_revision_loses_nothing_to_itself(peer: Peer, tmp_path: Path) -> None:
    if why := absent():
        pytest.skip(why)
    place = Place(upstream_name(peer), peer.revision, tmp_path)
    able = abilities(peer.revision)
    async with listening([*SERVER, str(tmp_path)]) as http:
        url = f"{http.origin}/{place.name}"
        if peer.transport == "stdio":
            command = [*SERVER, str(tmp_path), place.name, peer.revision]
            opening = over_stdio(command, peer.revision, able)
        elif peer.revision == REVISIONS[0]:
            opening = over_pair(f"{url}/sse", peer.revision, able)
        else:
            opening = over_http(url, peer.revision, able)
        table = Table(tmp_path)
        async with opening as client:
            if client.modern:
                kinds = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")
                await client.listen(dict.fromkeys(kinds, True))
            await compare(Pairing(client, peer, peer, place, "direct"), "direct", ABLE, table)
    assert not table.lost, table
    assert table.passed.total() > 30
