"""Two replicas of one project, a redis-server between them, nginx before them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.peers.nginx import balancer
from tests.peers.redis import RedisServer, redis_server
from tests.peers.serving import Listening, serving
from tests.workers.yard import TOOLS, project

KEY = "0123456789abcdef0123456789abcdef"
SDK = '. "$MCP_SDK/tool-sdk.sh"\n'
MORE = {
    **TOOLS,
    "steps": f'{SDK}for i in 1 2 3; do mcp_progress "$i" "step $i" 3; done; echo $PPID',
    "ask": f"{SDK}mcp_elicit_confirm 'Really?'",
    # Leaves a mark each time it runs, and takes a moment.
    "mark": f"""{SDK}cd "$(dirname "$0")"; mcp_args_get '.name' >>marks
echo >>marks; sleep 0.05; echo $PPID""",
}
YES = {"elicitation/create": {"action": "accept", "content": {"confirmed": True}}}


def yard(folder: Path) -> Path:
    project(folder, MORE)
    notes = folder / "resources" / "notes"
    notes.mkdir(parents=True)
    (notes / "notes.txt").write_text("one\n")
    (notes / "notes.meta.json").write_text(
        f'{{"name": "notes", "uri": "file://{notes}/notes.txt", "mimeType": "text/plain"}}'
    )
    return folder


@dataclass(frozen=True, slots=True)
class Replicas:
    url: str  # behind the balancer
    servers: list[Listening]
    redis: RedisServer
    folder: Path


@asynccontextmanager
async def replica(
    folder: Path, redis: RedisServer, *flags: str, env: Mapping[str, str] | None = None
) -> AsyncIterator[Listening]:
    shared = {"TOOLYARD_CLUSTER_KEY": KEY, **(env or {})}
    async with serving(folder, "--store", redis.url, *flags, env=shared) as server:
        yield server


@asynccontextmanager
async def replicas(
    folder: Path, *flags: str, count: int = 2, env: Mapping[str, str] | None = None
) -> AsyncIterator[Replicas]:
    with redis_server() as redis:
        async with AsyncExitStack() as stack:
            servers = [
                await stack.enter_async_context(replica(folder, redis, *flags, env=env))
                for _ in range(count)
            ]
            url = stack.enter_context(balancer([server.origin for server in servers]))
            yield Replicas(url, servers, redis, folder)


def text(result: dict[str, Any]) -> str:
    said: str = result["content"][0]["text"]
    return said
