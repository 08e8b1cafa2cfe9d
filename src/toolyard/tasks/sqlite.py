"""Records of tasks in a SQLite file, shared by the processes that serve the same thing.

One thread does all of the work, so that nobody waits for a disk but who asked for it, and what is
written keeps its order. The file's neighbours are the key that ids are made with, and a lock
for each process: a lock that nobody holds is that of a process that ended.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import TypeVar

from toolyard.files.whole import create_whole, try_lock
from toolyard.protocol.codec import dumps, exact
from toolyard.protocol.tasks.record import TaskRecord
from toolyard.protocol.tasks.words import TERMINAL
from toolyard.tasks.records import Holdings, Note

_T = TypeVar("_T")
FILE, KEY, LOCKS = "tasks.db", "tasks.key", "owners"
BUSY_SECONDS = 5.0
_OVER = ", ".join(f"'{status}'" for status in sorted(TERMINAL))
_SCHEMA = """
create table if not exists tasks (
    id text primary key, caller text not null, status text not null, created integer not null,
    expires integer not null, size integer not null, summary blob not null, rest blob not null
) without rowid;
create index if not exists by_caller on tasks (caller, created);
create index if not exists by_expiry on tasks (expires);
create table if not exists notes (
    number integer primary key, task text not null, message blob not null
);
"""


def exists(folder: str) -> bool:
    """Has anybody ever made a task here?"""
    return os.path.exists(os.path.join(folder, FILE))


def key_in(folder: str) -> bytes:
    """The key that ids are made with; made with the first one. Raises OSError."""
    path = os.path.join(folder, KEY)
    with suppress(FileExistsError):
        create_whole(path, os.urandom(32))
    with open(path, "rb") as file:
        return file.read()


class SqliteRecords:
    """See the head of this module. The folder is made where it is missing."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        os.makedirs(os.path.join(folder, LOCKS), 0o700, exist_ok=True)
        self.keys = (key_in(folder),)
        self.owner = os.urandom(8).hex()
        self._lock = try_lock(self._lock_of(self.owner))
        self._thread = ThreadPoolExecutor(1, "tasks")
        self._connection: sqlite3.Connection | None = None

    def _lock_of(self, owner: str) -> str:
        return os.path.join(self._folder, LOCKS, os.path.basename(owner))

    async def is_alive(self, owner: str) -> bool:
        path = self._lock_of(owner)
        if owner == self.owner or not owner or not os.path.exists(path):
            return owner == self.owner
        lock = try_lock(path)
        if lock is None:
            return True
        with suppress(FileNotFoundError):
            os.unlink(path)
        os.close(lock)
        return False

    # -- in the thread -----------------------------------------------------------------

    async def _do(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._worked, work)

    def _worked(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        try:
            if self._connection is None:
                self._connection = _opened(os.path.join(self._folder, FILE))
            with self._connection:
                return work(self._connection)
        except sqlite3.Error as error:
            raise OSError(f"{self._folder}/{FILE}: {error}") from error

    # -- records -----------------------------------------------------------------------

    async def holdings(self, caller: str) -> Holdings:
        def count(database: sqlite3.Connection) -> Holdings:
            _sweep(database)
            rows = database.execute(
                f"select count(*), coalesce(sum(status not in ({_OVER})), 0),"
                " coalesce(sum(size), 0) from tasks where caller = ?",
                (caller,),
            )
            kept, running, size = rows.fetchone()
            return Holdings(running, kept, size)

        return await self._do(count)

    async def write(self, record: TaskRecord) -> bool:
        summary, rest = (dumps(part) for part in record.as_json())
        row = (record.id, record.caller, record.status, record.created, record.expires)

        def put(database: sqlite3.Connection) -> bool:
            cursor = database.execute(
                "insert into tasks values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (id) do update set"
                " status = excluded.status, expires = excluded.expires, size = excluded.size,"
                f" summary = excluded.summary, rest = excluded.rest where status not in ({_OVER})",
                (*row, len(summary) + len(rest), summary, rest),
            )
            return cursor.rowcount > 0

        return await self._do(put)

    async def read(self, task_id: str) -> TaskRecord | None:
        def get(database: sqlite3.Connection) -> TaskRecord | None:
            row = database.execute(
                "select summary, rest from tasks where id = ? and expires > ?", (task_id, _now())
            ).fetchone()
            return None if row is None else _record(row[0], row[1])

        return await self._do(get)

    async def summaries(self, caller: str | None = None) -> list[TaskRecord]:
        def get(database: sqlite3.Connection) -> list[TaskRecord]:
            rows = database.execute(
                "select summary from tasks where expires > ? and (caller = ? or ? is null)"
                " order by created desc, id",
                (_now(), caller, caller),
            )
            return [_record(row[0]) for row in rows]

        return await self._do(get)

    # -- notes -------------------------------------------------------------------------

    async def leave(self, note: Note, owner: str) -> None:
        def put(database: sqlite3.Connection) -> None:
            row = (note.task, dumps(note.message))
            database.execute("insert into notes (task, message) values (?, ?)", row)

        await self._do(put)

    async def collect(self, task_ids: Sequence[str]) -> list[Note]:
        own = frozenset(task_ids)

        def take(database: sqlite3.Connection) -> list[Note]:
            rows = database.execute("select number, task, message from notes order by number")
            notes = [row for row in rows if row[1] in own]
            database.executemany("delete from notes where number = ?", [(row[0],) for row in notes])
            return [Note(task, exact(message)) for _, task, message in notes]

        return await self._do(take)

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._end)
        self._thread.shutdown(wait=False)
        with suppress(FileNotFoundError):
            os.unlink(self._lock_of(self.owner))
        if self._lock is not None:
            os.close(self._lock)

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _opened(path: str) -> sqlite3.Connection:
    # What a task has printed is nobody else's business.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    database = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
    # A handle that was given away must be good after a crash of the machine, too.
    for pragma in ("auto_vacuum = incremental", "journal_mode = wal", "synchronous = full"):
        with closing(database.execute(f"pragma {pragma}")):
            pass
    database.executescript(_SCHEMA)
    return database


def _sweep(database: sqlite3.Connection) -> None:
    """Forget what is past its time, and give its room back."""
    gone = database.execute("delete from tasks where expires <= ?", (_now(),)).rowcount
    if gone:
        database.execute("delete from notes where task not in (select id from tasks)")
        with closing(database.execute("pragma incremental_vacuum")) as pages:
            pages.fetchall()


def _record(summary: bytes, rest: bytes = b"{}") -> TaskRecord:
    return TaskRecord.of({**exact(summary), **exact(rest)})


def _now() -> int:
    return int(time.time() * 1000)
