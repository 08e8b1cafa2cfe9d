"""A program whose tools ask in odd ways; what they do goes to stderr.

python -m tests.transports.odd stdio
python -m tests.transports.odd http
"""

from __future__ import annotations

import asyncio
import sys

import uvloop

from tests.peers import inmemory
from tests.peers.inmemory import text, tool
from toolyard.errors import ProtocolError
from toolyard.protocol.call import Call, Channel, JsonObject, Result

FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
WHO: JsonObject = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Who?", "requestedSchema": FORM},
}
GO_ON = asyncio.Event()


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


async def impatient(arguments: JsonObject, _call: Call, channel: Channel) -> Result:
    """Asks, and goes on without the answer as soon as `hurry` is called."""
    asking = asyncio.create_task(channel.ask({"who": WHO}))
    await GO_ON.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    channel.progress(1, 1, "went on")
    channel.log("error", "went on")
    asyncio.get_running_loop().call_soon(say, "went on")
    if "code" in arguments:
        raise ProtocolError(arguments["code"], "went wrong")
    return text("went on")


async def hurry(_arguments: JsonObject, _call: Call, _channel: Channel) -> Result:
    GO_ON.set()
    return text("hurried")


async def give(arguments: JsonObject, _call: Call, _channel: Channel) -> Result:
    """The result that it is given, whatever that is."""
    say(f"gives after {_call.request_state!r}")
    result: JsonObject = arguments["result"]
    return result


async def ask(_arguments: JsonObject, _call: Call, channel: Channel) -> Result:
    answers = await channel.ask({"who": WHO})
    return text(f"Hello {answers['who']['content']['name']}")


async def big(arguments: JsonObject, _call: Call, channel: Channel) -> Result:
    for number in range(arguments.get("reports", 0)):
        channel.progress(number, None, "x" * 10_000)
    return text("x" * arguments["size"])


async def hang(_arguments: JsonObject, _call: Call, _channel: Channel) -> Result:
    say("hang began")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError as cancelled:
        say(f"hang was cancelled: {' '.join(map(str, cancelled.args))}")
        raise
    return text("never")


async def announce(arguments: JsonObject, _call: Call, channel: Channel) -> Result:
    """Tells the session, and no call, that something is complete."""
    if channel.session is not None:
        channel.session.notify(arguments["method"], arguments["params"])
    return text("announced")


def main(way: str) -> None:
    works = (impatient, hurry, give, ask, big, hang, announce)
    inmemory.TOOLS = tuple(tool(work.__name__, work) for work in works)
    if way == "stdio":
        asyncio.run(inmemory.over_stdio())
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(inmemory.over_http(0))


if __name__ == "__main__":
    main(sys.argv[1])
