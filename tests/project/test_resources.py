"""Which files of a project are resources and templates, and what reading them gives."""

import base64
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.project.conftest import Folder, Read, call, refused, source_of
from toolyard.catalog.entries import Entries, Resource
from toolyard.errors import INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND
from toolyard.scripts.running.runner import Runner


def names(entries: Entries) -> list[str]:
    return [resource.name for resource in entries.resources]


def only(entries: Entries) -> Resource:
    (resource,) = entries.resources
    return resource


async def contents(folder: Folder, runner: Runner, name: str, **settings: object) -> Any:
    entries = source_of(folder, runner, **settings).read()
    resource = next(each for each in entries.resources if each.name == name)
    return (await call(resource.target, {"uri": resource.uri}))["contents"]


def test_a_file_without_metadata_has_the_uri_of_the_file(folder: Folder, read: Read) -> None:
    path = folder.write("resources/a b/é.md", "text")
    resource = only(read())
    assert resource.definition == {
        "name": "é",
        "description": "",
        "uri": f"file://{path.parent.parent}/a%20b/%C3%A9.md",
        "mimeType": "text/markdown",
    }
    assert resource.extra == {"path": "a b/é.md", "provider": "file"}


async def test_a_listed_file_with_odd_characters_can_be_read_whole(
    folder: Folder, runner: Runner
) -> None:
    folder.write("resources/a b/é%41.txt", "line\n\n")
    uri = f"file://{folder.root}/resources/a%20b/%C3%A9%2541.txt"
    assert await contents(folder, runner, "é%41") == [
        {"uri": uri, "mimeType": "text/plain", "text": "line\n\n"}
    ]


def test_metadata_names_the_resource_and_keeps_what_it_does_not_know(
    folder: Folder, read: Read
) -> None:
    meta = {
        "name": "notes",
        "title": "Notes",
        "uri": "test://notes",
        "mimeType": "text/x-notes",
        "annotations": {"priority": 1},
        "inputSchema": {"properties": {"section": {"type": "string"}}},
        "team": "blue",
    }
    folder.write("resources/notes.txt", "text")
    folder.write("resources/notes.meta.json", meta)
    resource = only(read())
    assert resource.definition == {
        "name": "notes",
        "description": "",
        "uri": "test://notes",
        "mimeType": "text/x-notes",
        "title": "Notes",
        "annotations": {"priority": 1},
    }
    assert resource.extra["team"] == "blue"
    assert resource.extra["inputSchema"] == {
        "type": "object",
        "properties": {"section": {"type": "string"}},
    }


def test_an_inline_line_describes_a_file_too(folder: Folder, read: Read) -> None:
    folder.write("resources/a.txt", '# mcp: {"name": "inline", "uri": "test://a"}\ntext')
    assert (only(read()).name, only(read()).uri) == ("inline", "test://a")


async def test_binary_content_is_a_blob_whatever_its_type_says(
    folder: Folder, runner: Runner
) -> None:
    folder.write("resources/a.bin", b"\x00\x01")
    folder.write("resources/b.txt", b"\xff\xfe")
    assert (await contents(folder, runner, "a"))[0]["blob"] == base64.b64encode(b"\0\1").decode()
    (b,) = await contents(folder, runner, "b")
    assert (b["mimeType"], b["blob"]) == ("application/octet-stream", "//4=")


async def test_an_executable_with_metadata_is_run_and_its_source_is_never_served(
    folder: Folder, runner: Runner
) -> None:
    folder.script("resources/now.sh", 'printf "%s|%s" "$1" "$MCP_RESOURCE_NAME"\n')
    folder.write("resources/now.meta.json", {"uri": "test://now", "mimeType": "text/x"})
    assert await contents(folder, runner, "now") == [
        {"uri": "test://now", "mimeType": "text/x", "text": "test://now|now"}
    ]


def test_a_program_without_metadata_is_neither_run_nor_served(folder: Folder, read: Read) -> None:
    path = folder.script("resources/now.sh")
    folder.script("resources/later.sh", mode=0o644)
    entries = read()
    assert names(entries) == ["later"]
    assert entries.warnings == (f"{path}: a program without metadata is not served",)


async def test_a_text_with_the_executable_bit_is_data(folder: Folder, runner: Runner) -> None:
    folder.write("resources/a.txt", "text").chmod(0o755)
    assert (await contents(folder, runner, "a"))[0]["text"] == "text"


async def test_a_program_may_print_a_whole_result_or_ask(folder: Folder, runner: Runner) -> None:
    printed = '{"contents": [{"uri": "x:1", "text": "a"}, {"uri": "x:2", "text": "b"}]}'
    folder.script("resources/a.sh", f"echo '{printed}'\n")
    folder.write("resources/a.meta.json", {"uri": "x:a"})
    assert len(await contents(folder, runner, "a")) == 2
    asking = '{"resultType": "input_required", "requestState": "s"}'
    folder.script("resources/a.sh", f"echo '{asking}'\n")
    resource = only(source_of(folder, runner).read())
    assert (await call(resource.target, {"uri": "x:a"}))["requestState"] == "s"


async def test_a_program_that_fails_or_hangs_is_an_error(folder: Folder, runner: Runner) -> None:
    folder.script("resources/a.sh", "echo oh >&2; exit 3\n")
    folder.write("resources/a.meta.json", {"uri": "x:a"})
    folder.script("resources/b.sh", "exec sleep 60\n")
    folder.write("resources/b.meta.json", {"uri": "x:b", "timeoutSecs": 0.1})
    a, b = source_of(folder, runner).read().resources
    failed = await refused(a.target, {"uri": "x:a"})
    assert (failed.code, failed.message) == (INTERNAL_ERROR, "oh")
    hung = await refused(b.target, {"uri": "x:b"})
    assert (hung.code, hung.message) == (INTERNAL_ERROR, "Resource timed out after 0.1s")
    own = '{"code": -32002, "message": "no such row"}'
    folder.script("resources/a.sh", f"echo '{own}' >\"$MCP_TOOL_ERROR_FILE\"; exit 1\n")
    said = await refused(a.target, {"uri": "x:a"})
    assert (said.code, said.message) == (-32002, "no such row")


def test_documents_hidden_files_and_completions_are_no_resources(
    folder: Folder, read: Read
) -> None:
    for name in ("README.md", "LICENSE", ".hidden", ".git/config"):
        folder.write(f"resources/{name}", "text")
    folder.script("resources/a.completion.sh")
    assert replace(read(), unlisted=()) == Entries()


def test_two_resources_of_one_name_leave_the_first_and_a_warning(
    folder: Folder, read: Read
) -> None:
    folder.write("resources/a/same.txt", "1")
    folder.write("resources/b/same.txt", "2")
    folder.write("resources/other.txt", "3")
    entries = read()
    assert names(entries) == ["other", "same"]
    assert entries.warnings == (
        f"{folder.root}/resources/b/same.txt: there is already a resource with the name 'same' "
        "(a/same.txt); skipped",
    )


@pytest.mark.parametrize(
    "meta, why",
    [
        ("{", "is not JSON"),
        ([], "must hold a JSON object"),
        ({"uri": 3}, "uri must be a URI"),
        ({"uri": "x:1", "provider": "nope"}, "there is no provider 'nope'"),
        ({"name": "lone"}, "has neither uri, uriTemplate nor a data file"),
        ({"uri": "db:1"}, "nothing can read 'db:1'"),
        ({"uri": "x:{a}", "uriTemplate": "x:{a}"}, "has both uri and uriTemplate"),
        ({"uriTemplate": "x:{}"}, "does not name a variable"),
        ({"uriTemplate": "x:{   }"}, "does not name a variable"),
        ({"uriTemplate": "x:a"}, "at least one {variable} is needed"),
        ({"uriTemplate": 3}, "uriTemplate must be text"),
        ({"uriTemplate": "x:{a}", "path": "none.sh"}, "is not a file"),
        ({"uriTemplate": "x:{a}", "path": "../outside.sh"}, "is not a file"),
    ],
)
def test_metadata_that_cannot_be_served_is_named_and_the_rest_is_served(
    folder: Folder, read: Read, meta: Any, why: str
) -> None:
    folder.write("resources/good.txt", "text")
    folder.script("outside.sh")
    path = folder.write("resources/bad.meta.json", meta)
    entries = read()
    assert (names(entries), entries.templates) == (["good"], ())
    assert len(entries.warnings) == 1
    assert entries.warnings[0].startswith(f"{path}: ") and why in entries.warnings[0]


def test_a_template_is_listed_with_its_fields(folder: Folder, read: Read) -> None:
    meta = {
        "name": "project-files",
        "title": "Project Files",
        "uriTemplate": "file:///{path}",
        "description": "Any file",
        "mimeType": "application/octet-stream",
        "annotations": {"audience": ["user"]},
        "_meta": {"v": 1},
    }
    folder.write("resources/files.meta.json", {**meta, "provider": "file"})
    (template,) = read().templates
    assert template.definition == meta
    assert template.extra == {"provider": "file"}


def test_a_template_may_not_take_the_name_of_a_resource(folder: Folder, read: Read) -> None:
    folder.write("resources/same.txt", "text")
    folder.write("resources/t.meta.json", {"name": "same", "uriTemplate": "x:{a}"})
    entries = read()
    assert (names(entries), entries.templates) == (["same"], ())
    assert entries.warnings == (
        f"{folder.root}/resources: template 'same': a resource has the same name; skipped",
    )


async def test_a_template_with_a_path_runs_its_script_with_the_variables(
    folder: Folder, runner: Runner
) -> None:
    folder.script("resources/sub/data.sh", 'printf %s "$MCP_TEMPLATE_ARGS_JSON"\n')
    folder.write("resources/sub/t.meta.json", {"uriTemplate": "x:{id}", "path": "data.sh"})
    entries = source_of(folder, runner).read()
    assert (entries.resources, entries.warnings) == ((), ())
    (template,) = entries.templates
    result = await call(template.target, {"uri": "x:7", "id": "7"})
    assert result["contents"][0]["text"] == '{"id":"7"}'


async def test_a_template_of_files_never_leads_out_of_the_roots(
    folder: Folder, runner: Runner, tmp_path: Path
) -> None:
    folder.write("resources/in.txt", "inside")
    folder.write("secret.txt", "no")
    folder.write("resources/t.meta.json", {"name": "t", "uriTemplate": "file:///{path}"})
    (folder.root / "resources/link.txt").symlink_to(folder.root / "secret.txt")
    (template,) = source_of(folder, runner).read().templates
    base = f"file://{folder.root}/resources"
    read = await call(template.target, {"uri": f"{base}/in.txt"})
    assert read["contents"][0]["text"] == "inside"
    for tail in ("/link.txt", "/../secret.txt", "/%2e%2e/secret.txt", "-old/x", "/..%2fsecret.txt"):
        error = await refused(template.target, {"uri": base + tail})
        assert (error.code, error.message) == (INTERNAL_ERROR, "Resource outside allowed roots")
    missing = await refused(template.target, {"uri": f"{base}/none.txt"})
    assert (missing.code, missing.data) == (RESOURCE_NOT_FOUND, {"uri": f"{base}/none.txt"})


@pytest.mark.parametrize(
    "uri", ["file://elsewhere/etc/passwd", "file:etc", "file:///a%00b", "file://"]
)
async def test_what_is_no_local_file_uri_is_refused(
    folder: Folder, runner: Runner, uri: str
) -> None:
    folder.write("resources/t.meta.json", {"name": "t", "uriTemplate": "file:///{path}"})
    (template,) = source_of(folder, runner).read().templates
    assert (await refused(template.target, {"uri": uri})).code == INVALID_PARAMS


async def test_special_files_and_large_files_are_refused(folder: Folder, runner: Runner) -> None:
    folder.write("resources/large.txt", "x" * 11)
    os.mkfifo(folder.root / "resources/pipe")
    folder.write("resources/t.meta.json", {"name": "t", "uriTemplate": "file:///{path}"})
    (template,) = source_of(folder, runner, max_resource_bytes=10).read().templates
    base = f"file://{folder.root}/resources"
    large = await refused(template.target, {"uri": f"{base}/large.txt"})
    assert large.message == "Resource exceeds 10 bytes"
    pipe = await refused(template.target, {"uri": f"{base}/pipe"})
    assert pipe.message == "Resource is not a plain file"
    directory = await refused(template.target, {"uri": base})
    assert directory.code == INTERNAL_ERROR


async def test_other_roots_can_be_configured(
    folder: Folder, runner: Runner, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/a.txt").write_text("a")
    uri = f"file://{tmp_path}/data/a.txt"
    folder.write("resources/a.meta.json", {"name": "a", "uri": uri})
    content = await contents(folder, runner, "a", resources_roots=(str(tmp_path / "data"),))
    assert content[0]["text"] == "a"
    denied = only(source_of(folder, runner).read())
    assert (await refused(denied.target, {"uri": uri})).message == "Resource outside allowed roots"


async def test_a_data_file_that_becomes_a_link_is_not_followed_out(
    folder: Folder, runner: Runner
) -> None:
    path = folder.write("resources/a.txt", "text")
    resource = only(source_of(folder, runner).read())
    secret = folder.write("secret.txt", "no")
    path.unlink()
    path.symlink_to(secret)
    error = await refused(resource.target, {"uri": resource.uri})
    assert error.message == "Resource outside allowed roots"


async def test_the_projects_own_provider_reads_by_its_exit_code(
    folder: Folder, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPBASH_REMOTE_TOKEN", "hush")
    monkeypatch.setenv("UNRELATED", "x")
    folder.script(
        "providers/db.sh",
        """case $1 in
        db:ok) printf '%s' "$MCPBASH_PROJECT_ROOT|${MCPBASH_REMOTE_TOKEN-}${UNRELATED-}";;
        db:2|db:3|db:4|db:5) echo "said" >&2; exit "${1#db:}";;
        esac
        """,
    )
    folder.write("resources/t.meta.json", {"name": "t", "uriTemplate": "db:{id}"})
    folder.write("resources/ok.meta.json", {"name": "ok", "uri": "db:ok", "mimeType": "text/x"})
    assert (await contents(folder, runner, "ok"))[0]["text"] == f"{folder.root}|"
    (template,) = source_of(folder, runner).read().templates
    errors = [await refused(template.target, {"uri": f"db:{code}"}) for code in range(2, 6)]
    assert [(error.code, error.message) for error in errors] == [
        (INTERNAL_ERROR, "Resource outside allowed roots"),
        (RESOURCE_NOT_FOUND, "Resource not found"),
        (INVALID_PARAMS, "said"),
        (INTERNAL_ERROR, "said"),
    ]


async def test_a_uri_that_looks_like_an_option_or_a_command_reaches_a_provider_as_it_is(
    folder: Folder, runner: Runner
) -> None:
    folder.script("providers/db.sh", 'printf %s "$1"\n')
    folder.write("resources/t.meta.json", {"name": "t", "uriTemplate": "{+uri}", "provider": "db"})
    (template,) = source_of(folder, runner).read().templates
    for uri in ("--help", "db:$(touch x)`id`;\n'\"", "db:" + "x" * 60000):
        result = await call(template.target, {"uri": uri})
        assert result["contents"][0]["text"] == uri
    assert (await refused(template.target, {"uri": "db:\0"})).code == INVALID_PARAMS


async def test_pages_of_apps_are_resources_with_their_metadata(
    folder: Folder, runner: Runner
) -> None:
    folder.tool("t")
    folder.write("tools/t/ui/index.html", "<p>hi</p>")
    folder.write(
        "ui/shared/ui.meta.json",
        {
            "description": "d",
            "template": "form",
            "config": {"title": "</script><b>"},
            "meta": {"csp": {"connectDomains": ["https://e.org"]}, "prefersBorder": False},
        },
    )
    entries = source_of(folder, runner).read()
    assert entries.warnings == ()
    own, shared = entries.resources
    assert (own.uri, shared.uri) == ("ui://my-project/t", "ui://my-project/shared")
    result = await call(own.target, {"uri": own.uri})
    assert result["contents"] == [
        {
            "uri": own.uri,
            "mimeType": "text/html;profile=mcp-app",
            "text": "<p>hi</p>",
            "_meta": {"ui": {"prefersBorder": True}},
        }
    ]
    page = (await call(shared.target, {"uri": shared.uri}))["contents"][0]
    assert page["_meta"]["ui"] == {
        "prefersBorder": False,
        "csp": {"connectDomains": ["https://e.org"]},
    }
    assert "</script><b>" not in page["text"] and "Content-Security-Policy" in page["text"]


@pytest.mark.parametrize(
    "meta, why",
    [
        ({"entrypoint": "../x.html"}, "there is no page '../x.html'"),
        ({"template": "nope"}, "template must be one of"),
        ("{", "is not JSON"),
    ],
)
def test_a_page_that_cannot_be_served_is_named(
    folder: Folder, read: Read, meta: Any, why: str
) -> None:
    folder.write("ui/x.html", "x")
    path = folder.write("ui/p/ui.meta.json", meta)
    entries = read()
    assert entries.resources == ()
    (warning,) = entries.warnings
    assert warning.startswith(f"{path}: ") and why in warning
