"""/readyz, /status and `doctor --store`: what is said about a store and about other replicas."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.peers.http1 import fetch
from tests.peers.ports import free_port
from tests.peers.redis import RedisServer, needs_redis, redis_server
from tests.peers.serving import Listening, environment, serving, toolyard
from tests.until import until
from tests.workers.doors import doors
from tests.workers.yard import crewed, project

KEY, OTHER = "k" * 32, "o" * 32
READY = {"ready": True, "because": [], "remarks": []}


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    with redis_server() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "yard")


def sharing(redis: RedisServer, key: str = KEY) -> dict[str, str]:
    return {"TOOLYARD_STORE": redis.url, "TOOLYARD_CLUSTER_KEY": key}


async def got(server: Listening, path: str) -> tuple[int, Any]:
    async with fetch("GET", f"{server.origin}{path}") as reply:
        return reply.status, json.loads(await reply.body())


async def answers(server: Listening, status: int, **document: Any) -> bool:
    """Within a moment: replicas hear of each other twice a second."""
    return await got(server, "/readyz") == (status, {**READY, **document})


async def store_of(server: Listening) -> Any:
    return (await got(server, "/status"))[1].get("store")


async def test_a_process_is_ready_when_it_knows_what_it_serves(folder: Path) -> None:
    async with serving(folder, "--no-page") as server:
        await until(lambda: answers(server, 200))
        async with fetch("POST", f"{server.origin}/readyz", body=b"{}") as reply:
            assert reply.status == 405
        assert await store_of(server) is None


async def test_each_worker_is_ready(folder: Path) -> None:
    async with crewed(folder) as server, doors(server) as urls:
        for door in [replace(server, url=url) for url in urls.values()]:
            await until(lambda door=door: answers(door, 200))  # type: ignore[misc]


@needs_redis
async def test_replicas_that_serve_the_same_are_ready_and_know_each_other(
    folder: Path, redis: RedisServer
) -> None:
    env = sharing(redis)
    async with serving(folder, env=env) as one, serving(folder, env=env) as other:
        for server in (one, other):
            await until(lambda s=server: answers(s, 200))  # type: ignore[misc]
            store = await until(lambda s=server: knows(s, 2))  # type: ignore[misc]
            assert store["reachable"] and store["error"] is None and not store["differences"]
            assert [process["self"] for process in store["processes"]].count(True) == 1
            assert (await got(server, "/status"))[1]["status"] == "ok"
    async with serving(folder, env=env) as alone:
        await until(lambda: knows(alone, 1))


async def knows(server: Listening, count: int) -> Any:
    store = await store_of(server)
    return store if len(store["processes"]) == count else None


@needs_redis
async def test_a_newcomer_with_another_key_is_not_ready_and_the_others_go_on(
    folder: Path, redis: RedisServer
) -> None:
    what = "another cluster key: nothing can be shared with it"
    async with serving(folder, env=sharing(redis)) as elder:
        await until(lambda: answers(elder, 200))
        async with serving(folder, env=sharing(redis, OTHER)) as newcomer:
            because = [f"a process that was there before has {what}"]
            await until(lambda: answers(newcomer, 503, ready=False, because=because))
            await until(lambda: answers(elder, 200, remarks=[f"another process has {what}"]))
            (difference,) = (await store_of(elder))["differences"]
            assert difference.endswith(what)
            assert (await got(elder, "/status"))[1]["status"] == "degraded"
        await until(lambda: answers(elder, 200))


@needs_redis
async def test_a_key_is_changed_while_replicas_stay_ready(folder: Path, redis: RedisServer) -> None:
    async with (
        serving(folder, env=sharing(redis, f"{KEY} {OTHER}")) as one,
        serving(folder, env=sharing(redis, f"{OTHER} {KEY}")) as other,
    ):
        await until(lambda: knows(one, 2))
        for server in (one, other):
            await until(lambda s=server: answers(s, 200))  # type: ignore[misc]


@needs_redis
async def test_replicas_with_different_registries_say_so(
    tmp_path: Path, folder: Path, redis: RedisServer
) -> None:
    env = sharing(redis)
    registry = tmp_path / "registry.json"
    registry.write_text('{"schemaVersion": "1.0", "servers": [], "tools": []}')
    async with serving(folder, env=env) as one, serving(registry, env=env) as other:
        for server in (one, other):
            remarks = ["another process has another registry"]
            await until(lambda s=server, r=remarks: answers(s, 200, remarks=r))  # type: ignore[misc]
            (difference,) = (await store_of(server))["differences"]
            assert difference.endswith("has another registry")


@needs_redis
async def test_a_store_that_is_away_is_said_and_takes_nobody_out(
    folder: Path, redis: RedisServer
) -> None:
    remarks = ["the store cannot be used: what needs none goes on"]
    async with serving(folder, env=sharing(redis)) as server:
        await until(lambda: answers(server, 200))
        redis.kill()
        await until(lambda: answers(server, 200, remarks=remarks))
        document = (await got(server, "/status"))[1]
        assert document["status"] == "degraded" and not document["store"]["reachable"]
        assert "cannot be reached" in document["store"]["error"]
        lines = [line for line in server.stderr if "cannot be reached" in line]
        assert len(lines) == 1, lines
        redis.start()
        await until(lambda: answers(server, 200))
        redis.ask("CONFIG", "SET", "maxmemory", "1")
        await until(lambda: answers(server, 200, remarks=remarks))
        assert "is full" in (await store_of(server))["error"]
        redis.ask("CONFIG", "SET", "maxmemory", "0")
        await until(lambda: answers(server, 200))


# -- what an operator reads ----------------------------------------------------------------


def says(*arguments: str, key: str | None = KEY) -> tuple[int, str]:
    env = environment({"TOOLYARD_CLUSTER_KEY": key} if key is not None else {})
    command = toolyard(*arguments)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("url", "key", "sentence"),
    [
        ("http://127.0.0.1:1", KEY, "http://127.0.0.1:1 is not the address of a store"),
        ("redis://127.0.0.1:x", KEY, "is not the address of a store"),
        ("URL", None, "TOOLYARD_CLUSTER_KEY: a store needs it, the same on every replica"),
        ("URL", "short", "TOOLYARD_CLUSTER_KEY: the key has 5 bytes, and needs 32 or more"),
    ],
)
@needs_redis
def test_serve_and_doctor_refuse_what_can_be_no_store_or_no_key(
    folder: Path, redis: RedisServer, url: str, key: str | None, sentence: str
) -> None:
    store = redis.url if url == "URL" else url
    code, text = says("serve", str(folder), "--http", "0", "--store", store, key=key)
    assert code == 2 and sentence in text and "Traceback" not in text
    code, text = says("doctor", "--store", store, key=key)
    assert code == 1 and sentence in text and "Traceback" not in text


@needs_redis
def test_serve_and_doctor_say_that_a_password_is_wrong_and_do_not_repeat_it(folder: Path) -> None:
    with redis_server(port=free_port()) as redis:
        redis.ask("CONFIG", "SET", "requirepass", "right")
        url = redis.url.replace("redis://", "redis://:wrong@")
        for command in (["serve", str(folder), "--http", "0"], ["doctor"]):
            code, text = says(*command, "--store", url)
            assert code == (2 if command[0] == "serve" else 1)
            assert f"the store at {redis.url} refuses the password or the user" in text
            assert "wrong" not in text


@needs_redis
@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        (("CONFIG", "SET", "maxmemory", "1"), "is full: raise its maxmemory"),
        (("REPLICAOF", "127.0.0.1", "1"), "is read-only: name its primary"),
    ],
)
def test_the_doctor_finds_a_store_that_does_not_write(
    redis: RedisServer, setting: tuple[str, ...], sentence: str
) -> None:
    code, text = says("doctor", "--store", redis.url)
    assert code == 0 and "does everything that is needed" in text
    redis.ask(*setting)
    code, text = says("doctor", "--store", redis.url)
    assert code == 1 and sentence in text


@needs_redis
async def test_the_doctor_names_the_replicas_and_one_with_another_key(
    folder: Path, redis: RedisServer
) -> None:
    async with serving(folder, env=sharing(redis)):
        code, text = says("doctor", "--store", redis.url)
        assert code == 0 and "shares it" in text
        code, text = says("doctor", "--store", redis.url, key=OTHER)
        assert code == 1 and "with another cluster key" in text
