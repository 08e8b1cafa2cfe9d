"""A call that reports numbered events, and a client whose connection is cut again and again."""

from __future__ import annotations

import json

from tests.cluster.yard import SDK
from tests.peers.http1 import Event, fetch
from tests.peers.raw_http import HttpClient


def counting(count: int) -> str:
    """A tool with so many numbered events; the second half when a file `go` is there."""
    return f"""{SDK}cd "$(dirname "$0")"; echo $PPID >began
for ((i = 1; i <= {count}; i++)); do
  if ((i == {count} / 2)); then until [ -e go ]; do sleep 0.02; done; fi
  mcp_progress "$i" "event $i" {count}
done
echo done"""


def numbers(events: list[Event]) -> list[int]:
    messages = [json.loads(event.data) for event in events if event.data]
    return [one["params"]["progress"] for one in messages if one.get("method", "").endswith("ess")]


async def some_of(client: HttpClient, last: str, count: int) -> list[Event]:
    """Events of a stream that was cut, after the last that came; the connection is cut again."""
    events: list[Event] = []
    headers = {**client.right(None), "Accept": "text/event-stream", "Last-Event-ID": last}
    async with fetch("GET", client.url, headers) as got:
        assert got.status == 200, await got.body()
        async for event in got.events():
            if event.data:
                events.append(event)
            if len(events) == count:
                break
    return events


async def begun(client: HttpClient, count: int) -> list[Event]:
    """The first events of the counting call, whose connection is then cut."""
    params = {"name": "count", "arguments": {}}
    message = client.message("tools/call", params, meta={"progressToken": "count"})
    events: list[Event] = []
    async with client.stream(message) as got:
        async for event in got.events():
            if event.data:
                events.append(event)
            if len(events) == count:
                break
    return events


async def resumed(client: HttpClient, count: int, at_once: int) -> list[int]:
    """The numbers that came, a few on each connection."""
    events = await begun(client, at_once)
    while "done" not in (events[-1].data or ""):
        events += await some_of(client, events[-1].id or "", at_once)
        assert len(events) <= 2 * count, "it does not end"
    return numbers(events)
