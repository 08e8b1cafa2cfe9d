"""Six published servers, the world that they work on, and what is asked of them."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.gateway.test_real_servers import (
    EVERYTHING_CALLS,
    MEMORY_CALLS,
    TIME_CALLS,
    filesystem_calls,
    inherits,
    prepared,
)
from tests.strict.schema import Json, JsonObject

# What differs from one moment, process or run to the next.
MOMENT = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*|(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} \d\d \d{4} [\d:]+|"
    r"\d\d?:\d\d:\d\d(\W|.u202f)[AP]M|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
WHEN = "2026-01-02T03:04:05+00:00"
GIT_ENV = {
    **{f"GIT_{who}_NAME": "Ann" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "ann@example.com" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": WHEN for who in ("AUTHOR", "COMMITTER")},
    "GIT_CONFIG_GLOBAL": "/dev/null",
}
# They answer only as tasks.
AS_TASKS = {"simulate-research-query"}


@dataclass(frozen=True)
class Published:
    name: str
    command: list[str]
    requests: list[tuple[str, JsonObject]]
    env: dict[str, str] = field(default_factory=dict)


def call(tool: str, **arguments: Json) -> tuple[str, JsonObject]:
    return "tools/call", {"name": tool, "arguments": arguments}


def each(calls: list[tuple[str, Json]]) -> list[tuple[str, JsonObject]]:
    return [call(tool, **arguments) for tool, arguments in calls if tool not in AS_TASKS]


def read(uri: str) -> tuple[str, JsonObject]:
    return "resources/read", {"uri": uri}


def prompt(name: str, **arguments: str) -> tuple[str, JsonObject]:
    return "prompts/get", {"name": name, "arguments": arguments}


def complete(ref: JsonObject, name: str, value: str) -> tuple[str, JsonObject]:
    return "completion/complete", {"ref": ref, "argument": {"name": name, "value": value}}


TEMPLATE = {"type": "ref/resource", "uri": "demo://resource/dynamic/text/{resourceId}"}
DEPARTMENT = {"type": "ref/prompt", "name": "completable-prompt"}
EVERYTHING = [
    *each(EVERYTHING_CALLS),
    call("get-sum", a="2", b=3),
    call("get-sum", a=2),
    call("get-structured-content", location="Nowhere"),
    call("get-resource-reference", resourceType="Blob", resourceId=2),
    read("demo://resource/static/document/features.md"),
    read("demo://resource/dynamic/blob/2"),
    prompt("simple-prompt"),
    prompt("args-prompt", city="Bonn", state="NRW"),
    prompt("args-prompt"),
    prompt("resource-prompt", resourceType="Text", resourceId="1"),
    complete(TEMPLATE, "resourceId", "1"),
    complete(DEPARTMENT, "department", "E"),
]
# Only to a client that can be asked.
ASKING = [
    call("get-roots-list"),
    call("trigger-elicitation-request"),
    call("trigger-sampling-request", prompt="hi", maxTokens=5),
]


def git_requests(repo: str) -> list[tuple[str, JsonObject]]:
    return [
        call("git_status", repo_path=repo),
        call("git_diff_unstaged", repo_path=repo),
        call("git_add", repo_path=repo, files=["new.txt"]),
        call("git_diff_staged", repo_path=repo, context_lines=1),
        call("git_commit", repo_path=repo, message="Add a file"),
        call("git_log", repo_path=repo, max_count=5),
        call("git_log", repo_path=repo, max_count="1"),
        call("git_show", repo_path=repo, revision="HEAD"),
        call("git_create_branch", repo_path=repo, branch_name="side"),
        call("git_checkout", repo_path=repo, branch_name="side"),
        call("git_branch", repo_path=repo, branch_type="local"),
        call("git_diff", repo_path=repo, target="HEAD~1"),
        call("git_reset", repo_path=repo),
        call("git_show", repo_path=repo, revision="nothing"),
        call("git_status", repo_path="/nowhere"),
        call("git_status"),
    ]


def servers(world: Path, pages: str, git: Path) -> list[Published]:
    files = world / "files"
    fetcher = ["mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"]
    memory = {"MEMORY_FILE_PATH": str(world / "memory.jsonl")}
    beyond = [call("read_text_file", path="/etc/hostname"), call("read_text_file", path=7)]
    outside = [call("read_text_file", path=str(world / "more" / "b.txt"))]
    wrong = [call("get_current_time", timezone="Nowhere/Else"), call("convert_time")]
    return [
        Published("everything", ["mcp-server-everything"], EVERYTHING),
        Published(
            "filesystem",
            ["mcp-server-filesystem", str(files)],
            [*each(filesystem_calls(files)), *outside, *beyond],
        ),
        Published("memory", ["mcp-server-memory"], each(MEMORY_CALLS), memory),
        Published(
            "time",
            ["mcp-server-time", "--local-timezone", "UTC"],
            [*each(TIME_CALLS), *wrong],
        ),
        Published(
            "fetch",
            fetcher,
            [
                call("fetch", url=f"{pages}/a.txt", raw=True),
                call("fetch", url=f"{pages}/none.txt"),
                prompt("fetch", url=f"{pages}/a.txt"),
            ],
        ),
        Published("git", [str(git / "mcp-server-git")], git_requests(str(world / "repo")), GIT_ENV),
    ]


def make_world(world: Path) -> None:
    """As it was before anybody asked for anything."""
    prepared(world / "files")
    (world / "more").mkdir(exist_ok=True)
    (world / "more" / "b.txt").write_text("more\n")
    repo = world / "repo"
    subprocess.run(["rm", "-rf", str(repo)], check=True)
    repo.mkdir()
    (repo / "a.txt").write_text("one\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "First"]):
        subprocess.run(["git", *words], cwd=repo, check=True, env={**os.environ, **GIT_ENV})
    (repo / "a.txt").write_text("one\ntwo\n")
    (repo / "new.txt").write_text("new\n")


def environment_of(server: Published, env: Mapping[str, str]) -> list[str]:
    """The command in the environment that the gateway gives a child."""
    kept = {key: value for key, value in {**os.environ, **env}.items() if inherits(key)}
    words = [f"{key}={value}" for key, value in {**kept, **server.env}.items()]
    return ["env", "-i", *words, *server.command]


def settled(value: Json) -> Json:
    """Without what differs by itself."""
    return json.loads(MOMENT.sub("then", json.dumps(readable(value))))


def readable(value: Json) -> Json:
    """With what text blobs say: one of them tells the time."""
    if isinstance(value, list):
        return [readable(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("mimeType") == "text/plain" and "blob" in value:
        value = {**value, "blob": base64.b64decode(value["blob"]).decode()}
    return {key: readable(each) for key, each in value.items()}
