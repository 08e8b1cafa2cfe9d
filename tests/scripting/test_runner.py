"""What other kinds of scripts build on: `Runner.run`, with and without a channel."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import uvloop

from tests.scripting.yard import (
    CALL,
    Recorder,
    Yard,
    able,
    make_yard,
    run,
    text_of,
)
from tests.until import until_dead, until_exists
from toolyard.protocol.call import JsonObject, Questions
from toolyard.scripts.contract.environ import ISOLATED, kept
from toolyard.scripts.running.deadline import TimeLimit
from toolyard.scripts.running.run import Finished, ScriptSpec

LOG = """echo '{"method":"notifications/message","params":{"data":1}}' >> "$MCP_LOG_STREAM" """


async def test_a_script_is_run_with_arguments_variables_and_input(yard: Yard) -> None:
    path = yard.script("p.sh", "#!/bin/sh\npwd; echo $1 $NAME $ARGS_JSON; cat; exit 3\n")
    spec = ScriptSpec(
        str(path),
        argv=("-x",),
        environ=yard.runner.environ,
        extra_env={"NAME": "é"},
        payloads={b"ARGS": b"[1]"},
        cwd="/",
        stdin=b"in",
    )
    assert await yard.runner.run(spec) == Finished(3, "/\n-x é [1]\nin".encode(), b"")


async def test_without_a_channel_there_is_no_exchange(yard: Yard) -> None:
    path = yard.script("p.sh", "#!/bin/sh\nenv\n")
    finished = await yard.runner.run(ScriptSpec(str(path), environ=kept(os.environ, ISOLATED)))
    assert b"MCP_LOG_STREAM" not in finished.stdout
    assert b"PATH=" in finished.stdout


async def test_with_a_channel_it_is_heard(yard: Yard) -> None:
    path = yard.script("p.sh", f"#!/bin/sh\n{LOG}\n")
    channel = Recorder()
    await yard.runner.run(ScriptSpec(str(path)), channel=channel)
    await yard.runner.run(ScriptSpec(str(path)), CALL, channel)
    assert channel.said == [("log", "info", 1, None)] * 2


async def test_limits_of_its_own(yard: Yard) -> None:
    path = yard.script("p.sh", "#!/bin/sh\nsleep 60\n")
    finished = await yard.runner.run(ScriptSpec(str(path), timeout=TimeLimit(0.1)))
    assert finished.timed_out == "fixed"
    path = yard.script("q.sh", "#!/bin/sh\nyes\n")
    assert (await yard.runner.run(ScriptSpec(str(path), max_output=10))).overflowed


def test_everything_works_on_uvloop(tmp_path: Path) -> None:
    async def answer(questions: Questions) -> JsonObject:
        return {"elicit": {"action": "accept"}}

    async def scene() -> tuple[Recorder, JsonObject]:
        yard = make_yard(tmp_path.resolve())
        channel = Recorder(answer)
        asking = """printf '{"message":"m"}' > "$MCP_ELICIT_REQUEST_FILE"
        until [ -s "$MCP_ELICIT_RESPONSE_FILE" ]; do sleep 0.01; done"""
        result = await run(
            yard.bash("all.sh", f"{asking}\n{LOG}\necho done"),
            call=able(elicitation={}),
            channel=channel,
        )
        slow = asyncio.create_task(run(yard.bash("slow.sh", "echo $$ > pid; sleep 60")))
        pid = int(await until_exists(yard.root / "pid"))
        slow.cancel()
        await until_dead(pid)
        await yard.runner.close()
        return channel, result

    channel, result = uvloop.run(scene())
    assert [what[0] for what in channel.said] == ["ask", "log"]
    assert text_of(result) == "done"
