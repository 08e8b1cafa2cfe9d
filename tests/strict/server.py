"""Strict servers as programs.

python -m tests.strict.server FOLDER NAME REVISION          # one, over stdio
python -m tests.strict.server FOLDER                        # one of each revision, over HTTP
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from tests.strict.conversation import Place
from tests.strict.schema import Json
from tests.strict.server_http import serve
from tests.strict.world import conversation

LIMIT = 16 * 1024 * 1024


async def over_stdio(place: Place) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)

    async def send(message: Json) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    talk = conversation(place, aside=send)
    async for line in reader:
        message = json.loads(line)
        if isinstance(message, list):
            await talk.receive_batch(message, send)
        else:
            talk.receive(message, send)


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0])
    if len(arguments) == 1:
        asyncio.run(serve(folder))
    else:
        asyncio.run(over_stdio(Place(arguments[1], arguments[2], folder)))


if __name__ == "__main__":
    main(sys.argv[1:])
