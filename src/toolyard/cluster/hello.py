"""How two processes begin: each shows the other that it has the cluster key. Knows no HTTP.

    caller                                     called
      a nonce                          ──>
                                       <──     its own nonce
      a proof over both                ──>     closes, without a word, if that is not one
                                       <──     its proof over both
      closes if that is not one

What follows on the connection is HTTP, and neither side doubts the other any more. A proof is good
for one connection: the nonces are new each time, and each side proves something else.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import socket

from toolyard.store.keys import ClusterKeys

WITHIN = 1.5
_NONCE, _PROOF = 16, 32
_CALLER, _CALLED = "peer that calls", "peer that is called"


class NotAPeer(ConnectionError):
    """It does not have our key."""

    def __init__(self) -> None:
        super().__init__(0, "it does not have our cluster key")


async def greet(sock: socket.socket, keys: ClusterKeys) -> None:
    """As the one who calls. Raises OSError and TimeoutError."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(WITHIN):
        nonce = os.urandom(_NONCE)
        await loop.sock_sendall(sock, nonce)
        both = nonce + await _read(sock, _NONCE)
        await loop.sock_sendall(sock, keys.proofs(_CALLER, both)[0])
        proof = await _read(sock, _PROOF)
    if not hmac.compare_digest(proof, keys.proofs(_CALLED, both)[0]):
        raise NotAPeer


async def welcome(sock: socket.socket, keys: ClusterKeys) -> None:
    """As the one who is called. Raises OSError and TimeoutError."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(WITHIN):
        nonce = os.urandom(_NONCE)
        both = await _read(sock, _NONCE) + nonce
        await loop.sock_sendall(sock, nonce)
        proof = await _read(sock, _PROOF)
        # The caller proves itself with its first key; so do we, with the same one.
        answers = zip(keys.proofs(_CALLER, both), keys.proofs(_CALLED, both), strict=True)
        answer = next((own for its, own in answers if hmac.compare_digest(proof, its)), None)
        if answer is None:
            raise NotAPeer
        await loop.sock_sendall(sock, answer)


async def _read(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = await asyncio.get_running_loop().sock_recv(sock, size - len(data))
        if not more:
            raise NotAPeer
        data += more
    return data
