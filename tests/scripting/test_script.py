"""Scripts as tools: real ones, in bash, Python and C."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.processes import alive
from tests.scripting.conftest import MakeYard
from tests.scripting.yard import Recorder, Yard, calling, run, text_of
from tests.until import WITHIN, until, until_dead, until_exists
from toolyard.errors import ProtocolError, ToolError
from toolyard.protocol.call import JsonObject
from toolyard.scripts.running.runner import Runner

ECHO_C = """
#include <stdio.h>
#include <stdlib.h>
int main(void) { printf("{\\"c\\":%s}", getenv("MCP_TOOL_ARGS_JSON")); return 0; }
"""


async def test_tools_in_bash_python_and_c(yard: Yard) -> None:
    in_bash = yard.bash("a.sh", 'echo "{\\"bash\\":$MCP_TOOL_ARGS_JSON}"')
    in_python = yard.python(
        "b.py",
        "import os, json; print(json.dumps({'py': json.loads(os.environ['MCP_TOOL_ARGS_JSON'])}))",
    )
    in_c = yard.c("c", ECHO_C)
    results = await asyncio.gather(*(run(tool, {"n": 1}) for tool in (in_bash, in_python, in_c)))
    assert [result["structuredContent"] for result in results] == [
        {"bash": {"n": 1}},
        {"py": {"n": 1}},
        {"c": {"n": 1}},
    ]


async def test_a_tool_starts_in_the_project_with_nothing_on_stdin(yard: Yard) -> None:
    result = await run(yard.bash("where.sh", "pwd; cat; echo end"))
    assert text_of(result) == f"{yard.root}\nend"


async def test_a_tool_may_have_its_arguments_on_stdin(yard: Yard) -> None:
    tool = yard.c(
        "stdin",
        "#include <stdio.h>\nint main(void){int c;while((c=getchar())!=EOF)putchar(c);return 0;}",
        stdin="arguments",
    )
    arguments = {"q": "x" * 200_000}
    assert (await run(tool, arguments))["structuredContent"] == arguments


async def test_a_failing_tool_is_an_error_result(yard: Yard) -> None:
    result = await run(yard.bash("fail.sh", "echo why >&2; exit 4"))
    assert result == {
        "name": "fail",
        "content": [{"type": "text", "text": "why"}],
        "isError": True,
        "_meta": {"exitCode": 4, "stderr": "why"},
    }


async def test_stderr_stays_out_of_results_when_it_is_not_captured(a_yard: MakeYard) -> None:
    yard = a_yard(stderr_capture=False)
    result = await run(yard.bash("fail.sh", "echo why >&2; exit 4"))
    assert text_of(result) == "Tool failed with exit code 4"


ERROR_FILE = """
[ -f "$MCP_TOOL_ERROR_FILE" ] && [ ! -s "$MCP_TOOL_ERROR_FILE" ] || exit 9
[ -f "$MCP_TOOL_RESOURCES_FILE" ] && [ ! -s "$MCP_TOOL_RESOURCES_FILE" ] || exit 9
[ -e "$MCP_CANCEL_FILE" ] && exit 9
[ "$1" ] || echo '{"code":-32005,"message":"no","data":[1]}' > "$MCP_TOOL_ERROR_FILE"
"""


async def test_the_error_file_makes_a_protocol_error_each_time_anew(yard: Yard) -> None:
    tool = yard.bash("error.sh", ERROR_FILE)
    for _ in range(3):
        with pytest.raises(ProtocolError) as raised:
            await run(tool)
        assert (raised.value.code, raised.value.message) == (-32005, "no")
        assert raised.value.data == [1]
    assert text_of(await run(yard.bash("fine.sh", "echo fine"))) == "fine"


async def test_much_output_arrives_whole(yard: Yard) -> None:
    result = await run(yard.bash("much.sh", "head -c 3000000 /dev/zero | tr '\\0' x"))
    assert text_of(result) == "x" * 3_000_000


async def test_too_much_output_is_refused(a_yard: MakeYard) -> None:
    yard = a_yard(max_output=1000)
    result = await run(yard.bash("much.sh", "yes"))
    assert text_of(result) == "Tool output exceeded 1000 bytes"
    assert result["isError"] is True


REPORT = """
say() { printf '{"method":"notifications/%s","params":{%s}}'"$3" "$1" "$2"; }
for n in 1 2 3; do
  say progress '"progressToken":"x","progress":'$n',"total":null' '\\n' >> "$MCP_PROGRESS_STREAM"
  say message '"level":"info","data":'$n '\\n' >> "$MCP_LOG_STREAM"
done
say message '"level":"info","data":"last"' '' >> "$MCP_LOG_STREAM"
echo done
"""


async def test_progress_and_logs_keep_their_order_and_come_before_the_result(yard: Yard) -> None:
    channel = Recorder()
    await run(yard.bash("report.sh", REPORT), channel=channel)
    assert channel.said == [
        ("progress", 1, None, None),
        ("log", "info", 1, None),
        ("progress", 2, None, None),
        ("log", "info", 2, None),
        ("progress", 3, None, None),
        ("log", "info", 3, None),
        ("log", "info", "last", None),
    ]


async def test_progress_is_live(yard: Yard) -> None:
    tool = yard.bash(
        "live.sh",
        """printf '{"method":"notifications/progress","par' >> "$MCP_PROGRESS_STREAM"
        printf 'ams":{"progress":1}}\\n' >> "$MCP_PROGRESS_STREAM"
        until [ -e go ]; do sleep 0.01; done; echo done""",
    )
    channel = Recorder()
    call = asyncio.create_task(run(tool, channel=channel))
    async with asyncio.timeout(WITHIN):
        await channel.until("progress")
    assert not call.done()
    (yard.root / "go").touch()
    assert text_of(await call) == "done"


async def test_python_can_append_to_the_streams(yard: Yard) -> None:
    tool = yard.python(
        "append.py",
        "import os\nwith open(os.environ['MCP_LOG_STREAM'], 'a') as f:\n"
        '    print(\'{"method":"notifications/message","params":{"data":1}}\', file=f)',
    )
    channel = Recorder()
    await run(tool, channel=channel)
    assert channel.said == [("log", "info", 1, None)]


async def test_more_lines_than_allowed_are_dropped_for_each_call_anew(a_yard: MakeYard) -> None:
    yard = a_yard(max_progress_per_minute=2, max_logs_per_minute=1)
    tool = yard.bash("report.sh", REPORT)
    for _ in range(2):
        channel = Recorder()
        await run(tool, channel=channel)
        assert [what[0] for what in channel.said] == ["progress", "log", "progress"]


async def test_a_script_can_announce_changes(yard: Yard) -> None:
    announced: list[tuple[str, JsonObject]] = []
    settings, paths = yard.runner.settings, yard.runner.paths
    yard.runner = Runner(settings, paths, announce=lambda *said: announced.append(said))
    line = '{"method":"notifications/tools/list_changed"}'
    await run(yard.bash("announce.sh", f"echo '{line}' >> \"$MCP_LOG_STREAM\""))
    assert announced == [("notifications/tools/list_changed", {})]


async def test_a_timeout_ends_the_tool_and_says_so(yard: Yard) -> None:
    tool = yard.bash("slow.sh", "echo note >&2; sleep 60 & echo $! > pid; wait", timeoutSecs=1)
    result = await run(tool)
    assert result["content"] == [{"type": "text", "text": "Tool timed out after 1s"}]
    assert result["structuredContent"]["error"]["reason"] == "fixed"
    assert result["_meta"] == {"exitCode": 124, "stderr": "note"}
    await until_dead(int((yard.root / "pid").read_text()))


@pytest.mark.parametrize(
    ("params", "metadata", "seconds"),
    [
        ({"timeoutSecs": 0.1}, {"timeoutSecs": 50}, 0.1),
        ({"timeoutSecs": 100}, {"timeoutSecs": 50}, 0.2),
        ({"timeoutSecs": -1}, {"timeoutSecs": 0.1}, 0.1),
        ({"timeoutSecs": "soon"}, {"timeoutSecs": "1"}, 1),
        ({}, {}, 0.3),
    ],
)
async def test_whose_timeout_holds(
    a_yard: MakeYard, params: JsonObject, metadata: JsonObject, seconds: float
) -> None:
    yard = a_yard(default_timeout=0.3, max_timeout=0.2)
    result = await run(yard.bash("slow.sh", "sleep 60", **metadata), call=calling(params=params))
    assert result["structuredContent"]["error"]["timeoutSecs"] == seconds


PROGRESS = """
line='{"method":"notifications/progress","params":{"progress":1}}'
tick() { echo "$line" >> "$MCP_PROGRESS_STREAM"; }
"""


async def test_progress_extends_a_timeout_that_allows_it(yard: Yard) -> None:
    tool = yard.bash(
        "steps.sh",
        f"{PROGRESS} for n in 1 2 3 4 5 6; do sleep 0.5; tick; done; echo done",
        timeoutSecs=2.5,
        progressExtendsTimeout=True,
    )
    assert text_of(await run(tool)) == "done"


@pytest.mark.parametrize(
    "sign",
    ["touch $MCP_PROGRESS_STREAM", "echo >>$MCP_PROGRESS_STREAM", "echo x >>$MCP_PROGRESS_STREAM"],
)
async def test_a_write_to_the_progress_stream_or_a_touch_of_it_is_a_sign_of_life(
    yard: Yard, sign: str
) -> None:
    tool = yard.bash(
        "alive.sh",
        f"for n in 1 2 3 4 5 6; do sleep 0.2; {sign}; done; echo done",
        timeoutSecs=0.7,
        progressExtendsTimeout=True,
    )
    channel = Recorder()
    assert (text_of(await run(tool, channel=channel)), channel.said) == ("done", [])


async def test_a_log_message_is_no_sign_of_progress(yard: Yard) -> None:
    line = """'{"method":"notifications/message","params":{"level":"info","data":1}}'"""
    tool = yard.bash(
        "logs.sh",
        f"while :; do echo {line} >>$MCP_LOG_STREAM; sleep 0.04; done",
        timeoutSecs=0.5,
        progressExtendsTimeout=True,
    )
    assert (await run(tool))["structuredContent"]["error"]["reason"] == "idle"


async def test_without_progress_an_extended_timeout_is_idle(yard: Yard) -> None:
    tool = yard.bash(
        "idle.sh", "sleep 60", timeoutSecs=0.2, progressExtendsTimeout=True, maxTimeoutSecs=9
    )
    error = (await run(tool))["structuredContent"]["error"]
    assert (error["reason"], error["maxTimeoutSecs"]) == ("idle", 9)


async def test_progress_cannot_extend_beyond_the_maximum(yard: Yard) -> None:
    tool = yard.bash(
        "endless.sh",
        f"{PROGRESS} while :; do tick; sleep 0.05; done",
        timeoutSecs=0.3,
        progressExtendsTimeout=True,
        maxTimeoutSecs=0.6,
    )
    result = await run(tool)
    assert text_of(result) == "Tool exceeded maximum runtime of 0.6s"


async def test_cancelling_returns_at_once_and_ends_the_whole_group(a_yard: MakeYard) -> None:
    yard = a_yard(kill_grace=3.0)
    body = """trap '' TERM; bash -c 'trap "" TERM; echo $$ > deaf; sleep 600' & sleep 600"""
    tool = yard.bash("deaf.sh", body)
    call = asyncio.create_task(run(tool))
    grandchild = int(await until_exists(yard.root / "deaf"))
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert alive(grandchild)  # its grace goes by without us
    await until_dead(grandchild)


async def test_a_cancelled_tool_can_see_that_it_is(yard: Yard) -> None:
    body = """trap '[ -e "$MCP_CANCEL_FILE" ] && echo seen > seen; exit' TERM
    echo > ready; while :; do sleep 0.01; done"""
    call = asyncio.create_task(run(yard.bash("look.sh", body)))
    await until_exists(yard.root / "ready")
    call.cancel()
    assert await until_exists(yard.root / "seen") == "seen\n"


async def test_at_most_so_many_run_at_once(a_yard: MakeYard) -> None:
    yard = a_yard(max_concurrent=2)
    tool = yard.bash(
        "count.sh",
        """mkdir running.$$; until [ -e go ]; do sleep 0.01; done
        ls -d running.* | wc -l; rmdir running.$$""",
    )
    calls = asyncio.gather(*(run(tool) for _ in range(6)))
    await until(lambda: len(list(yard.root.glob("running.*"))) >= 2)
    (yard.root / "go").touch()
    assert max(int(text_of(result)) for result in await calls) <= 2


async def test_many_at_once_do_not_disturb_each_other(yard: Yard) -> None:
    tool = yard.bash("echo.sh", "echo $MCP_TOOL_ARGS_JSON")
    results = await asyncio.gather(*(run(tool, {"n": number}) for number in range(200)))
    assert [result["structuredContent"]["n"] for result in results] == list(range(200))


async def test_who_waits_for_a_place_can_be_cancelled(a_yard: MakeYard) -> None:
    yard = a_yard(max_concurrent=1)
    first = asyncio.create_task(run(yard.bash("hold.sh", "until [ -e go ]; do sleep 0.01; done")))
    waiting = asyncio.create_task(run(yard.bash("never.sh", "touch ran")))
    await asyncio.sleep(0.05)
    waiting.cancel()
    (yard.root / "go").touch()
    await first
    assert text_of(await run(yard.bash("next.sh", "echo next"))) == "next"
    assert not (yard.root / "ran").exists()


async def test_many_calls_share_few_folders(yard: Yard) -> None:
    tool = yard.bash("folder.sh", 'echo "${MCP_CANCEL_FILE%/*}"')
    folders = {text_of(await run(tool)) for _ in range(5)}
    assert len(folders) <= 2  # one may still be cleaned up while the next is taken
    assert Path(folders.pop()).stat().st_mode & 0o777 == 0o700


async def test_a_folder_that_others_of_a_group_had_is_not_used_again(yard: Yard) -> None:
    tool = yard.bash("folder.sh", 'sleep 600 > /dev/null 2>&1 & echo "${MCP_CANCEL_FILE%/*}"')
    folders = {text_of(await run(tool)) for _ in range(4)}
    assert len(folders) == 4
    await yard.runner.open().until_idle(5)
    assert not any(Path(folder).exists() for folder in folders)


async def test_what_is_said_after_the_result_is_not_passed_on(yard: Yard) -> None:
    late = """echo > left; until [ -e go ]; do sleep 0.01; done
    printf "{}\\n{\\"method\\":" >> "$MCP_LOG_STREAM"; echo > wrote"""
    body = f"setsid bash -c '{late}' > /dev/null 2>&1 & until [ -e left ]; do sleep 0.01; done"
    channel = Recorder()
    await run(yard.bash("late.sh", body), channel=channel)
    (yard.root / "go").touch()
    await until_exists(yard.root / "wrote")
    await asyncio.sleep(0)
    await run(yard.bash("report.sh", REPORT), channel=channel)
    assert len(channel.said) == 7


@pytest.mark.parametrize(
    "body",
    [
        'touch "${MCP_CANCEL_FILE%/*}/litter"',
        'mkdir "${MCP_CANCEL_FILE%/*}/litter"',
        'rm "$MCP_LOG_STREAM"',
        'rm "$MCP_TOOL_ERROR_FILE"',
        'mv "$MCP_TOOL_ERROR_FILE" "$MCP_CANCEL_FILE"',
        'rm "$MCP_LOG_STREAM"; echo "{}" > "$MCP_LOG_STREAM"',
        'rm -rf "${MCP_CANCEL_FILE%/*}"',
        'ln -sf /etc/passwd "$MCP_TOOL_RESOURCES_FILE"',
        'printf half >> "$MCP_LOG_STREAM"',
    ],
)
async def test_what_one_call_leaves_in_its_folder_the_next_does_not_see(
    yard: Yard, body: str
) -> None:
    await run(yard.bash("litter.sh", body))
    channel = Recorder()
    look = yard.bash(
        "look.sh",
        """ls "${MCP_CANCEL_FILE%/*}"; stat -c %s "$MCP_TOOL_ERROR_FILE" "$MCP_TOOL_RESOURCES_FILE"
        echo '{"method":"notifications/message","params":{"data":1}}' >> "$MCP_LOG_STREAM" """,
    )
    result = await run(look, channel=channel)
    assert text_of(result) == "error.json\nresources.json\nstream.ndjson\n0\n0"
    assert channel.said == [("log", "info", 1, None)]


async def test_a_closed_runner_runs_nothing(yard: Yard) -> None:
    tool = yard.bash("a.sh", "echo a")
    await run(tool)
    await yard.runner.close()
    with pytest.raises(ToolError, match="shutting down"):
        await run(tool)


async def test_closing_ends_what_runs(yard: Yard) -> None:
    call = asyncio.create_task(run(yard.bash("long.sh", "sleep 60 & echo $! > pid; wait")))
    grandchild = int(await until_exists(yard.root / "pid"))
    await yard.runner.close()
    await until_dead(grandchild)
    assert (await call)["isError"] is True


async def test_the_metadata_item_is_passed_as_it_is(yard: Yard) -> None:
    tool = yard.bash(
        "meta.sh", 'printf %s "$MCP_TOOL_METADATA_JSON"', description="d", x_vendor=[1]
    )
    assert json.loads(text_of(await run(tool))) == {
        "name": "meta",
        "description": "d",
        "x_vendor": [1],
    }
