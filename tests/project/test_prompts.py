"""Which files of a project are prompts, and what getting them gives."""

from dataclasses import replace
from typing import Any

import pytest

from tests.project.conftest import Folder, Read, call, refused, source_of
from toolyard.catalog.entries import Entries, Prompt
from toolyard.errors import INTERNAL_ERROR, INVALID_PARAMS
from toolyard.scripts.running.runner import Runner


def names(entries: Entries) -> list[str]:
    return [prompt.name for prompt in entries.prompts]


def prompt_in(folder: Folder, runner: Runner) -> Prompt:
    (prompt,) = source_of(folder, runner).read().prompts
    return prompt


def test_a_schema_of_arguments_is_listed_as_mcps_list(folder: Folder, read: Read) -> None:
    schema = {
        "type": "object",
        "properties": {
            "notes": {"type": "string", "title": "Notes", "description": "What was said"},
            "tone": {"type": "string"},
        },
        "required": ["notes"],
    }
    folder.write("prompts/sum/sum.txt", "{{notes}}")
    folder.write(
        "prompts/sum/sum.meta.json",
        {"name": "summarise", "title": "T", "arguments": schema, "role": "assistant", "x": 1},
    )
    (prompt,) = read().prompts
    arguments = [
        {"name": "notes", "title": "Notes", "description": "What was said", "required": True},
        {"name": "tone", "required": False},
    ]
    assert prompt.definition == {
        "name": "summarise",
        "description": "",
        "title": "T",
        "arguments": arguments,
    }
    assert prompt.extra == {
        "path": "sum/sum.txt",
        "inputSchema": schema,
        "role": "assistant",
        "x": 1,
    }


def test_mcps_own_list_of_arguments_is_taken_as_it_is(folder: Folder, read: Read) -> None:
    arguments = [{"name": "a", "required": True, "vendor": 1}, {"name": "b"}]
    folder.write("prompts/p.txt", "")
    folder.write("prompts/p.meta.json", {"arguments": arguments})
    (prompt,) = read().prompts
    assert prompt.definition["arguments"] == arguments
    schema = prompt.extra["inputSchema"]
    assert isinstance(schema, dict) and schema["required"] == ["a"]


async def test_a_text_is_rendered_with_its_arguments_and_nothing_else(
    folder: Folder, runner: Runner
) -> None:
    folder.write("prompts/p.txt", "Hi {{ name }}, {{tone}}{{other}} {{x\n\n")
    properties = {"name": {}, "tone": {"default": "gently"}, "other": {}}
    folder.write(
        "prompts/p.meta.json", {"description": "d", "arguments": {"properties": properties}}
    )
    result = await call(prompt_in(folder, runner).target, {"name": "A\nB {{tone}} $(id) \\1"})
    text = "Hi A\nB {{tone}} $(id) \\1, gently {{x\n\n"
    assert result["description"] == "d"
    assert result["messages"] == [{"role": "user", "content": {"type": "text", "text": text}}]


async def test_what_is_no_argument_of_the_prompt_stays_in_the_text(
    folder: Folder, runner: Runner
) -> None:
    folder.write("prompts/p.txt", "{{unknown}} {{}}")
    result = await call(prompt_in(folder, runner).target, {})
    assert result["messages"][0]["content"]["text"] == "{{unknown}} {{}}"


async def test_a_required_argument_that_is_missing_is_refused(
    folder: Folder, runner: Runner
) -> None:
    folder.write("prompts/p.txt", "{{a}}")
    folder.write("prompts/p.meta.json", {"arguments": {"properties": {"a": {}}, "required": ["a"]}})
    error = await refused(prompt_in(folder, runner).target, {})
    assert (error.code, error.data) == (INVALID_PARAMS, {"missing": ["a"]})


async def test_an_executable_prompt_is_run_and_its_text_is_the_message(
    folder: Folder, runner: Runner
) -> None:
    folder.script("prompts/p.sh", 'printf "%s\\n" "$MCP_PROMPT_NAME $MCP_PROMPT_ARGS_JSON"\n')
    folder.write("prompts/p.meta.json", {"role": "assistant"})
    result = await call(prompt_in(folder, runner).target, {"a": "b"})
    assert result == {
        "messages": [
            {"role": "assistant", "content": {"type": "text", "text": 'p {"a":"b"}\n'}},
        ]
    }


@pytest.mark.parametrize(
    "printed, expected",
    [
        (
            '{"messages": [{"role": "user", "content": {"type": "image", "data": "", "v": 1}}]}',
            {
                "description": "d",
                "messages": [{"role": "user", "content": {"type": "image", "data": "", "v": 1}}],
            },
        ),
        (
            '[{"role": "user", "content": {"type": "text", "text": "a"}}]',
            {
                "description": "d",
                "messages": [{"role": "user", "content": {"type": "text", "text": "a"}}],
            },
        ),
        (
            '{"resultType": "input_required", "requestState": "s"}',
            {"resultType": "input_required", "requestState": "s"},
        ),
    ],
)
async def test_an_executable_prompt_may_print_a_whole_result_or_ask(
    folder: Folder, runner: Runner, printed: str, expected: Any
) -> None:
    folder.script("prompts/p.sh", f"echo '{printed}'\n")
    folder.write("prompts/p.meta.json", {"description": "d"})
    assert await call(prompt_in(folder, runner).target, {}) == expected


async def test_a_prompt_that_fails_or_hangs_is_an_error(folder: Folder, runner: Runner) -> None:
    folder.script("prompts/a.sh", "echo oh >&2; exit 3\n")
    folder.script("prompts/b.sh", "exec sleep 60\n")
    a, b = source_of(folder, runner).read().prompts
    failed = await refused(a.target, {})
    assert (failed.code, failed.message, failed.data) == (INTERNAL_ERROR, "oh", {"exitCode": 3})
    hung = await refused(b.target, {}, timeoutSecs=0.1)
    assert hung.message == "Prompt timed out after 0.1s"


def test_documents_and_completions_are_no_prompts(folder: Folder, read: Read) -> None:
    for name in ("README.md", "LICENSE.txt", ".hidden"):
        folder.write(f"prompts/{name}", "text")
    folder.script("prompts/p.completion.sh")
    assert replace(read(), unlisted=()) == Entries()


@pytest.mark.parametrize(
    "meta, why",
    [
        ("{", "is not JSON"),
        ({"arguments": "x"}, "arguments must be a schema or a list"),
        ({"arguments": [{"nameless": 1}]}, "arguments must be a schema or a list"),
        ({"name": 3}, "name must be text"),
    ],
)
def test_broken_metadata_is_named_and_everything_else_is_served(
    folder: Folder, read: Read, meta: Any, why: str
) -> None:
    folder.write("prompts/good.txt", "")
    folder.write("prompts/bad.txt", "")
    path = folder.write("prompts/bad.meta.json", meta)
    entries = read()
    assert names(entries) == ["good"]
    (warning,) = entries.warnings
    assert warning.startswith(f"{path}: ") and why in warning


def test_metadata_without_a_prompt_and_a_role_that_is_none_are_named(
    folder: Folder, read: Read
) -> None:
    lone = folder.write("prompts/lone.meta.json", {})
    folder.write("prompts/p.txt", "")
    role = folder.write("prompts/p.meta.json", {"role": "system"})
    entries = read()
    assert names(entries) == ["p"]
    assert entries.warnings == (
        f"{lone}: there is no prompt beside it; skipped",
        f"{role}: role must be one of user, assistant; user is used",
    )
