"""The examples that are about tools."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.examples.conftest import BOTH_ERAS, EXAMPLES, HANDSHAKE, MODERN, served, text_of
from tests.peers.raw import over_stdio
from tests.peers.serving import copied, toolyard
from tests.tasks.knowing import ABLE, begun, outcome, reaches

pytestmark = pytest.mark.long

every_era = pytest.mark.parametrize("revision", BOTH_ERAS)


@every_era
async def test_01_hello_says_hello(revision: str) -> None:
    async with served("01-hello", revision) as (client, _):
        [tool] = (await client.result("tools/list"))["tools"]
        assert (tool["name"], tool["description"]) == ("hello", "Says hello")
        assert text_of(await client.call("hello")) == "Hello from a script!"


@every_era
async def test_02_arguments_are_converted_and_checked(revision: str) -> None:
    async with served("02-arguments", revision) as (client, _):
        good = await client.call("convert_length", {"value": 5, "from": "km", "to": "mi"})
        assert good["structuredContent"] == {"value": 3.11, "unit": "mi"}
        bad = await client.call("convert_length", {"value": -5, "from": "parsec", "x": 1})
        assert bad["isError"] is True
        assert "/value" in text_of(bad)
        assert "/from" in text_of(bad)
        same = await client.call("convert_length", {"value": 1, "from": "m"})
        assert same["isError"] is True
        assert "from and to are both m" in text_of(same)


@every_era
async def test_03_progress_arrives_in_order_before_the_result(revision: str) -> None:
    async with served("03-progress-and-cancellation", revision) as (client, _):
        result = await client.call(
            "backup", {"files": 3, "pause": 0}, meta={"progressToken": "copying"}
        )
        heard = [said["params"] for said in client.notifications]
    assert text_of(result) == "Backed up 3 files."
    assert [said["progress"] for said in heard] == [0, 1, 2, 3]
    assert {(said["progressToken"], said["total"]) for said in heard} == {("copying", 3)}
    assert heard[0]["message"] == "copying file 1"


async def test_03_a_cancelled_backup_is_not_answered_and_others_are() -> None:
    async with served("03-progress-and-cancellation") as (client, _):
        params = {"name": "backup", "arguments": {"files": 1000, "pause": 0.05}}
        message = client.message("tools/call", params, meta={"progressToken": 1})
        pending = await client.begin(message)
        await client.notification("notifications/progress")
        await client.notify("notifications/cancelled", {"requestId": message["id"]})
        assert text_of(await client.call("backup", {"files": 1, "pause": 0})).startswith("Backed")
        assert not pending.done()


@every_era
async def test_04_log_messages_follow_the_level_that_was_asked_for(revision: str) -> None:
    level = {"io.modelcontextprotocol/logLevel": "debug"}
    async with served("04-logging", revision) as (client, project):
        (project / "data").mkdir()
        (project / "data/big").write_bytes(b"x" * 200_000)
        if revision == HANDSHAKE:
            await client.result("logging/setLevel", {"level": "debug"})
        meta = None if revision == HANDSHAKE else level
        result = await client.call("audit", {"folder": str(project / "data")}, meta=meta)
        heard = [said["params"] for said in client.notifications]
    assert text_of(result) == "1 large files"
    assert result["_meta"]["stderr"].startswith("audited ")
    assert [said["level"] for said in heard] == ["info", "warning", "debug"]
    assert heard[2]["logger"] == "files"
    assert heard[2]["data"]["size"].strip() == "200000"


async def test_04_a_folder_outside_of_the_roots_is_refused() -> None:
    async with served("04-logging") as (client, _):
        refused = await client.error(
            "tools/call", {"name": "audit", "arguments": {"folder": "/etc"}}
        )
    assert refused["code"] == -32602
    assert "outside the allowed roots" in refused["message"]


ELICITS: dict[str, Any] = {"elicitation": {}}


@every_era
async def test_09_an_order_is_asked_for_and_confirmed(revision: str) -> None:
    def answer(question: dict[str, Any]) -> dict[str, Any]:
        form = question["requestedSchema"]["properties"]
        content = {"confirmed": True} if "confirmed" in form else {"kind": "mint", "cups": 2}
        return {"action": "accept", "content": content}

    answers = {"elicitation/create": answer}
    async with served("09-elicitation", revision, capabilities=ELICITS, answers=answers) as (
        client,
        _,
    ):
        assert text_of(await client.call("order_tea")) == "Ordered: 2 x mint tea."
        assert len(client.questions) == 2


@every_era
async def test_09_a_user_may_decline(revision: str) -> None:
    answers = {"elicitation/create": {"action": "decline"}}
    async with served("09-elicitation", revision, capabilities=ELICITS, answers=answers) as (
        client,
        _,
    ):
        assert text_of(await client.call("order_tea")) == "No tea then."


@every_era
async def test_09_a_client_that_cannot_be_asked_declines(revision: str) -> None:
    async with served("09-elicitation", revision) as (client, _):
        assert text_of(await client.call("order_tea")) == "No tea then."
        assert client.questions == []


@every_era
async def test_10_the_result_carries_both_files(revision: str) -> None:
    async with served("10-embedded-resources", revision) as (client, _):
        result = await client.call("report", {"title": "Week 12"})
    embedded = [block["resource"] for block in result["content"] if block["type"] == "resource"]
    assert embedded == [
        {
            "uri": "report://latest",
            "mimeType": "text/markdown",
            "text": "# Week 12\n\nAll is well.\n",
        },
        {
            "uri": "report://visitors",
            "mimeType": "text/csv",
            "text": "day,visitors\nmonday,12\n",
        },
    ]
    assert result["structuredContent"] == {"success": True, "result": {"visitors": 12}}


@every_era
async def test_11_python_reads_stdin_and_reports(revision: str) -> None:
    table = "day,visitors\nmonday,12\ntuesday,20\n"
    async with served("11-python-tool", revision) as (client, _):
        result = await client.call("summarise_csv", {"csv": table}, meta={"progressToken": 7})
        assert [said["params"]["message"] for said in client.notifications] == ["day", "visitors"]
        assert client.notifications[0]["params"]["progressToken"] == 7
        empty = await client.call("summarise_csv", {"csv": "a,b\n"})
    assert result["structuredContent"] == {"rows": 2, "averages": {"visitors": 16.0}}
    assert (empty["isError"], text_of(empty)) == (True, "there are no rows in this CSV")


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
async def test_12_a_compiled_program_is_a_tool() -> None:
    with copied(EXAMPLES / "12-compiled-tool") as project:
        subprocess.run(["make", "-s"], cwd=project, check=True, timeout=60)
        async with over_stdio(toolyard("serve", project)) as client:
            result = await client.call("primes", {"limit": 12})
            assert result["structuredContent"] == {"primes": [2, 3, 5, 7, 11], "count": 5}
            wrong = await client.call("primes", {"limit": 1})
            assert wrong["isError"] is True


def test_12_without_a_compiler_the_reason_is_printed() -> None:
    with copied(EXAMPLES / "12-compiled-tool") as project:
        done = subprocess.run(
            ["make", "-s", "CC=no-such-compiler"], cwd=project, capture_output=True, text=True
        )
    assert done.returncode != 0
    assert "skipped: there is no C compiler (no-such-compiler) here" in done.stderr


@every_era
async def test_13_a_folder_is_packed_and_others_are_refused(revision: str) -> None:
    async with served("13-wrapping-a-program", revision) as (client, project):
        packed = await client.call("archive", {"folder": str(project / "server.d"), "name": "d"})
        result = packed["structuredContent"]["result"]
        assert result == {
            "archive": str(project / "archives/d.tar.gz"),
            "files": ["./server.meta.json"],
        }
        outside = await client.error(
            "tools/call", {"name": "archive", "arguments": {"folder": "/etc"}}
        )
        assert outside["code"] == -32602
        name = await client.call("archive", {"folder": str(project), "name": "-rf"})
        assert name["isError"] is True


@every_era
async def test_14_registration_decides_what_is_served(revision: str) -> None:
    async with served("14-registration", revision) as (client, _):
        tools = (await client.result("tools/list"))["tools"]
        assert [tool["name"] for tool in tools] == ["celsius", "fahrenheit"]
        assert (await client.result("resources/list"))["resources"] == []
        [prompt] = (await client.result("prompts/list"))["prompts"]
        assert prompt["name"] == "weather"
        assert text_of(await client.call("celsius", {"degrees": 212})) == "100.0"
        assert text_of(await client.call("fahrenheit", {"degrees": 100})) == "212.0"


@every_era
async def test_15_what_changes_something_needs_permission(revision: str) -> None:
    call = {"name": "write_note", "arguments": {"text": "milk"}}
    async with served("15-policy", revision) as (client, _):
        assert text_of(await client.call("read_note")) == "There is no note."
        refused = await client.error("tools/call", call)
        assert refused["code"] == -32602
        assert "POLICY_ALLOW_WRITES=true" in refused["message"]
        assert len((await client.result("tools/list"))["tools"]) == 2
    async with served("15-policy", revision, env={"POLICY_ALLOW_WRITES": "true"}) as (client, _):
        assert text_of(await client.call("write_note", {"text": "milk"})) == "Written."
        assert text_of(await client.call("read_note")) == "milk"


async def test_15_a_policy_that_others_may_write_refuses_every_call() -> None:
    async with served("15-policy") as (client, project):
        (project / "server.d/policy.sh").chmod(0o666)
        refused = await client.error("tools/call", {"name": "read_note"})
        assert "policy.sh" in refused["message"]


def test_every_example_has_a_page_and_is_valid() -> None:
    course = sorted(path for path in EXAMPLES.iterdir() if path.name[:1].isdigit())
    listed = (EXAMPLES / "README.md").read_text()
    for example in course:
        assert f"({example.name}/README.md)" in listed
        assert json.loads((example / "server.d/server.meta.json").read_text())["name"]


RELEASE = {"version": "1.4.0", "pause": 0}
AGREED = {"action": "accept", "content": {"confirmed": True}}
PUBLISH: dict[str, Any] = {"elicitation/create": AGREED}


@every_era
async def test_16_a_release_is_waited_for_by_clients_without_tasks(revision: str) -> None:
    options: dict[str, Any] = {"capabilities": {"elicitation": {}}, "answers": PUBLISH}
    async with served("16-tasks", revision, **options) as (client, _):
        assert text_of(await client.call("release", RELEASE)) == "Published 1.4.0."


async def test_16_a_release_is_a_task_for_clients_of_the_extension(tmp_path: Path) -> None:
    options: dict[str, Any] = {"capabilities": ABLE, "env": {"XDG_STATE_HOME": str(tmp_path)}}
    async with served("16-tasks", MODERN, **options) as (client, _):
        task = await begun(client, "release", RELEASE)
        seen = await reaches(client, task["taskId"], "input_required")
        assert seen["statusMessage"] == "1.4.0 is built"
        (key,) = seen["inputRequests"]
        answers = {key: {"action": "accept", "content": {"confirmed": False}}}
        update = {"taskId": task["taskId"], "inputResponses": answers}
        await client.result("tasks/update", update)
        text = text_of(await outcome(client, task["taskId"]))
        assert text == "Built 1.4.0; it was not published."
