"""How many of a model's tokens a value takes. An estimate: models count differently."""

from __future__ import annotations

from toolyard.protocol.call import Json
from toolyard.protocol.codec import dumps

CHARACTERS_PER_TOKEN = 4


def tokens_in(value: Json) -> int:
    return tokens(dumps(value).decode())


def tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)
