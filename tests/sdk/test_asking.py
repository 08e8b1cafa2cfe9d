"""mcp_elicit*, mcp_sample*, mcp_roots_ask: questions through files."""

import json
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.sandbox import Ran, Sandbox

DEADLINE = 20.0


def ask(
    sandbox: Sandbox, script: str, answer: Any, kind: str = "elicit", **environment: str
) -> tuple[Any, Ran]:
    """Run the script, take its question as the server does, and answer."""
    request, response = sandbox.folder / f"{kind}.request", sandbox.folder / f"{kind}.response"
    asked: list[Any] = []

    def serve() -> None:
        wait_for(request)
        asked.append(json.loads(request.read_text()))
        request.unlink()
        part = response.with_suffix(".part")
        part.write_text(json.dumps(answer))
        part.rename(response)

    server = threading.Thread(target=serve)
    server.start()
    ran = sandbox.run(script, **environment)
    server.join()
    return asked[0], ran


def test_a_form_is_asked_and_its_answer_printed(sandbox: Sandbox) -> None:
    answer = {"action": "accept", "content": {"name": "Ada"}}
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    asked, ran = ask(sandbox, f"mcp_elicit 'Your \"name\"?' '{json.dumps(schema)}'", answer)
    assert asked == {"message": 'Your "name"?', "schema": schema, "mode": "form"}
    assert (ran.json, ran.err) == (answer, "")


def test_nothing_of_a_question_is_left_behind(sandbox: Sandbox) -> None:
    before = set(sandbox.folder.iterdir())
    ask(sandbox, "mcp_elicit_confirm Sure?", {"action": "decline"})
    assert set(sandbox.folder.iterdir()) == before


def test_two_questions_get_two_answers(sandbox: Sandbox) -> None:
    process = sandbox.start("mcp_elicit_string one; mcp_elicit_string two")
    for word in ("one", "two"):
        wait_for(sandbox.elicit_request, process)
        asked = json.loads(sandbox.elicit_request.read_text())
        sandbox.elicit_request.unlink()
        part = sandbox.folder / "part"
        part.write_text(json.dumps({"action": "accept", "content": {"value": asked["message"]}}))
        part.rename(sandbox.elicit_response)
        assert asked["message"] == word
    out, _ = process.communicate(timeout=DEADLINE)
    assert [json.loads(line)["content"]["value"] for line in out.splitlines()] == ["one", "two"]


def wait_for(path: Path, process: "subprocess.Popen[str] | None" = None) -> None:
    end = time.monotonic() + DEADLINE
    while not path.exists():
        assert process is None or process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.01)


FORMS = [
    ("mcp_elicit_string M", {"value": {"type": "string"}}),
    ("mcp_elicit_string M city", {"city": {"type": "string"}}),
    ("mcp_elicit_confirm M", {"confirmed": {"type": "boolean"}}),
    ("mcp_elicit_choice M a 'b c'", {"choice": {"type": "string", "enum": ["a", "b c"]}}),
    (
        "mcp_elicit_titled_choice M 'a:Letter A' b",
        {
            "choice": {
                "type": "string",
                "oneOf": [{"const": "a", "title": "Letter A"}, {"const": "b", "title": "b"}],
            }
        },
    ),
    (
        "mcp_elicit_multi_choice M a b",
        {"choices": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}},
    ),
    (
        "mcp_elicit_titled_multi_choice M a:A",
        {"choices": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}}},
    ),
]


@pytest.mark.parametrize(("script", "properties"), FORMS)
def test_each_short_form_asks_for_one_required_field(
    sandbox: Sandbox, script: str, properties: dict[str, Any]
) -> None:
    asked, _ = ask(sandbox, script, {"action": "cancel"})
    assert asked == {
        "message": "M",
        "schema": {"type": "object", "properties": properties, "required": [*properties]},
        "mode": "form",
    }


def test_a_url_is_asked_in_its_own_mode(sandbox: Sandbox) -> None:
    asked, _ = ask(sandbox, "mcp_elicit_url 'Log in' https://a.example/?x=1", {"action": "accept"})
    assert asked == {"message": "Log in", "url": "https://a.example/?x=1", "mode": "url"}


@pytest.mark.parametrize("supported", ["0", None])
def test_a_client_that_cannot_be_asked_declines(sandbox: Sandbox, supported: str | None) -> None:
    ran = sandbox.run("mcp_elicit_confirm Sure?", MCP_ELICIT_SUPPORTED=supported)
    assert (ran.json, ran.code) == ({"action": "decline"}, 0)
    assert not sandbox.elicit_request.exists()


def test_a_cancelled_call_stops_waiting(sandbox: Sandbox) -> None:
    process = sandbox.start("mcp_elicit_confirm Sure?")
    wait_for(sandbox.elicit_request, process)
    sandbox.cancel.touch()
    out, _ = process.communicate(timeout=DEADLINE)
    assert json.loads(out) == {"action": "cancel"}


def sampling(sandbox: Sandbox) -> dict[str, str]:
    return {
        "MCP_SAMPLE_SUPPORTED": "1",
        "MCP_SAMPLE_REQUEST_FILE": str(sandbox.folder / "sample.request"),
        "MCP_SAMPLE_RESPONSE_FILE": str(sandbox.folder / "sample.response"),
    }


ANSWER = {"role": "assistant", "model": "m", "content": {"type": "text", "text": 'a "poem"'}}


def test_a_prompt_is_sampled(sandbox: Sandbox) -> None:
    script = "mcp_sample 'Write' --max-tokens 50 --system 'Be brief'"
    asked, ran = ask(sandbox, script, ANSWER, "sample", **sampling(sandbox))
    assert asked == {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Write"}}],
        "maxTokens": 50,
        "systemPrompt": "Be brief",
    }
    assert (ran.json, ran.code) == (ANSWER, 0)


def test_whole_sampling_params_are_sent_as_they_are(sandbox: Sandbox) -> None:
    params = {"messages": [], "maxTokens": 1, "temperature": 0.5}
    asked, _ = ask(
        sandbox, f"mcp_sample '{json.dumps(params)}'", ANSWER, "sample", **sampling(sandbox)
    )
    assert asked == params


@pytest.mark.parametrize("content", [ANSWER["content"], [ANSWER["content"]]])
def test_the_text_of_an_answer_is_read(sandbox: Sandbox, content: Any) -> None:
    answer = {**ANSWER, "content": content}
    _, ran = ask(sandbox, "mcp_sample_text Write", answer, "sample", **sampling(sandbox))
    assert ran.out == 'a "poem"\n'


def test_a_sampling_error_is_printed_and_is_the_status(sandbox: Sandbox) -> None:
    error = {"error": {"code": -1, "message": "no"}}
    _, ran = ask(sandbox, "mcp_sample Write", error, "sample", **sampling(sandbox))
    assert (ran.json, ran.code) == (error, 1)
    script = "if mcp_sample_text Write; then echo yes; else echo none; fi"
    assert sandbox.run(script).out == "none\n"


def test_roots_can_be_asked_for(sandbox: Sandbox) -> None:
    roots = [{"uri": "file:///x"}]
    environment = {
        "MCP_ROOTS_SUPPORTED": "1",
        "MCP_ROOTS_REQUEST_FILE": str(sandbox.folder / "roots.request"),
        "MCP_ROOTS_RESPONSE_FILE": str(sandbox.folder / "roots.response"),
    }
    asked, ran = ask(sandbox, "mcp_roots_ask", {"roots": roots}, "roots", **environment)
    assert (asked, ran.json) == ({}, {"roots": roots})


def test_without_an_answer_the_roots_are_those_of_the_call(sandbox: Sandbox) -> None:
    ran = sandbox.run("mcp_roots_ask", MCP_ROOTS_JSON='[{"uri":"file:///y"}]')
    assert ran.json == {"roots": [{"uri": "file:///y"}]}
