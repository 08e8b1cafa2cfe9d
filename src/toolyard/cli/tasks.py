"""toolyard tasks: the tasks of what is served here, running or over, and how to end one."""

from __future__ import annotations

import asyncio
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable

from toolyard.app.plan import Plan
from toolyard.app.tasks import opened_desk
from toolyard.cli.choosing import chosen_by, plan_of, refuse_nothing
from toolyard.cli.options import add_project
from toolyard.cli.output import counted, print_json, table
from toolyard.errors import ConfigError
from toolyard.protocol.tasks.forms import detailed
from toolyard.protocol.tasks.record import TaskRecord
from toolyard.protocol.tasks.words import CANCELLED, COMPLETED
from toolyard.tasks.desk import TaskDesk

LOOK_EVERY = 0.2
# For a server to notice that somebody wants a task to end.
PATIENCE = 10.0


def add(parser: ArgumentParser) -> None:
    parser.epilog = (
        "A task is named by its id, or by the beginning of it. Exit code of `wait` and `cancel`: "
        "0 if the task has succeeded (been cancelled), 1 if not, 2 for a wrong command line."
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show|cancel|wait")
    listing = actions.add_parser("list", help="all tasks that are kept, the newest first")
    listing.add_argument("--running", action="store_true", help="only those that are not over")
    for name, help_text in (
        ("show", "state, log and result of one"),
        ("cancel", "end one, with everything that its script has started"),
        ("wait", "wait until one is over, and show it"),
    ):
        actions.add_parser(name, help=help_text).add_argument("id", help="of the task")
    for action in actions.choices.values():
        action.add_argument("--json", action="store_true", help="for programs")
        add_project(action)


def run(options: Namespace) -> int:
    choice = chosen_by(options)
    refuse_nothing(choice)
    return asyncio.run(_run(plan_of(options, choice), options))


async def _run(plan: Plan, options: Namespace) -> int:
    async with opened_desk(plan) as desk:
        if desk is not None:
            return await _ACTIONS[options.action](desk, options)
    if options.action != "list":
        raise ConfigError.at("tasks", f"no task named {options.id!r}: there has been none here")
    return _print_list([], options)


async def _list(desk: TaskDesk, options: Namespace) -> int:
    records = await desk.summaries()
    return _print_list([r for r in records if not (options.running and r.over)], options)


async def _show(desk: TaskDesk, options: Namespace) -> int:
    _print_one(await _named(desk, options.id), options)
    return 0


async def _wait(desk: TaskDesk, options: Namespace) -> int:
    record = await _named(desk, options.id)
    while not record.over:
        await asyncio.sleep(LOOK_EVERY)
        record = await _named(desk, record.id)
    _print_one(record, options)
    return 0 if record.verdict == COMPLETED else 1


async def _cancel(desk: TaskDesk, options: Namespace) -> int:
    record = await _named(desk, options.id)
    await desk.cancel(record, "cancelled by the operator")
    until = time.monotonic() + PATIENCE
    while not record.over and time.monotonic() < until:
        await asyncio.sleep(LOOK_EVERY)
        record = await _named(desk, record.id)
    _print_one(record, options)
    return 0 if record.status == CANCELLED else 1


_ACTIONS: dict[str, Callable[[TaskDesk, Namespace], Awaitable[int]]] = {
    "list": _list,
    "show": _show,
    "wait": _wait,
    "cancel": _cancel,
}


async def _named(desk: TaskDesk, name: str) -> TaskRecord:
    record = await desk.find(name)
    if record is not None:
        return record
    matches = [known.id for known in await desk.summaries() if name and known.id.startswith(name)]
    if len(matches) == 1:
        record = await desk.find(matches[0])
    if record is None:
        why = "several begin like that" if matches else "it does not exist, or no longer"
        raise ConfigError.at("tasks", f"no task named {name!r}: {why}")
    return record


def _print_list(records: list[TaskRecord], options: Namespace) -> int:
    if options.json:
        print_json([_as_json(record) for record in records])
        return 0
    if not records:
        print("No tasks.")
        return 0
    heads = ("task", "tool", "status", "age", "caller", "says")
    rows = [_row(record) for record in records]
    print("\n".join(table([heads, *rows])))
    return 0


def _row(record: TaskRecord) -> tuple[str, ...]:
    age = _duration(int(time.time()) - record.created // 1000)
    return record.id[:12], record.tool, record.verdict, age, record.caller, record.message


def _duration(seconds: int) -> str:
    for size, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return counted(seconds // size, unit)
    return counted(max(0, seconds), "second")


def _as_json(record: TaskRecord) -> dict[str, object]:
    return {**detailed(record), "tool": record.tool, "caller": record.caller}


def _print_one(record: TaskRecord, options: Namespace) -> None:
    if options.json:
        print_json({**_as_json(record), "log": list(record.log)})
        return
    print(f"{record.tool}: {record.verdict}" + (f" ({record.message})" if record.message else ""))
    print(f"  task    {record.id}")
    print(f"  caller  {record.caller}")
    print(f"  begun   {_duration(int(time.time()) - record.created // 1000)} ago")
    for key, question in record.questions.items():
        print(f"  asks    {key}: {(question.get('params') or {}).get('message', '')}")
    for line in record.log:
        print(f"  log     {line}")
    if record.result is not None:
        for block in record.result.get("content", ()):
            print(block.get("text", f"[{block.get('type')}]"))
    if record.error is not None:
        print(f"error {record.error['code']}: {record.error['message']}")
