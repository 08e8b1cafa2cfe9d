"""The command line of jq, as far as scripts use it: options, inputs, output, exit codes."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from .functions import to_string
from .parser import parse
from .values import FilterError, UnknownFilterError, is_true, text

BLANKS = re.compile(r"\s*")
USAGE, UNREADABLE, NOT_COMPILED, NO_OUTPUT, FAILED = 2, 2, 3, 4, 5
FLAGS = {
    "c": "compact",
    "r": "raw",
    "j": "joined",
    "e": "exit_status",
    "n": "null_input",
    "s": "slurp",
    "R": "raw_input",
    "S": "sort",
    "M": "ignored",
    "C": "ignored",
}
LONG_FLAGS = {
    "--compact-output": "c",
    "--raw-output": "r",
    "--join-output": "j",
    "--exit-status": "e",
    "--null-input": "n",
    "--slurp": "s",
    "--raw-input": "R",
    "--sort-keys": "S",
}


class UsageError(Exception):
    """A command line that this tool does not understand."""


class Options:
    # Not a dataclass: importing those takes as long as everything else here.
    def __init__(self) -> None:
        self.flags: set[str] = set()
        self.variables: dict[str, Any] = {"ENV": dict(os.environ)}
        self.source: str | None = None
        self.files: list[str] = []


def main(arguments: list[str]) -> int:
    try:
        options = read_options(arguments)
        run = parse(options.source or ".")
    except UsageError as problem:
        return complain(str(problem), USAGE)
    except (UnknownFilterError, ValueError) as problem:
        return complain(f"filter not understood: {problem} (install jq or gojq)", NOT_COMPILED)
    result: Any = None
    count = 0
    try:
        for value in inputs(options):
            for result in run(value, options.variables):
                count += 1
                write(result, options.flags)
    except FilterError as problem:
        return complain(str(problem), FAILED)
    except (OSError, ValueError) as problem:
        return complain(str(problem), UNREADABLE)
    if "exit_status" not in options.flags:
        return 0
    return NO_OUTPUT if count == 0 else int(not is_true(result))


def complain(message: str, status: int) -> int:
    print(f"json-tool: {message}", file=sys.stderr)
    return status


def read_options(arguments: list[str]) -> Options:
    options = Options()
    words = list(arguments)
    while words:
        word = words.pop(0)
        if word in ("--arg", "--argjson"):
            if len(words) < 2:
                raise UsageError(f"{word} needs a name and a value")
            name, value = words.pop(0), words.pop(0)
            options.variables[name] = value if word == "--arg" else read_json_option(name, value)
        elif word in LONG_FLAGS:
            options.flags.add(FLAGS[LONG_FLAGS[word]])
        elif word.startswith("-") and len(word) > 1 and set(word[1:]) <= set(FLAGS):
            options.flags |= {FLAGS[letter] for letter in word[1:]}
        elif word.startswith("-") and options.source is None:
            raise UsageError(f"unknown option {word}")
        elif options.source is None:
            options.source = word
        else:
            options.files.append(word)
    return options


def read_json_option(name: str, value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError as problem:
        raise UsageError(f"--argjson {name}: not JSON: {problem}") from None


def inputs(options: Options) -> Iterator[Any]:
    if "null_input" in options.flags:
        yield None
        return
    source = "".join(read_file(name) for name in options.files) if options.files else read_stdin()
    if "raw_input" in options.flags:
        yield from [source] if "slurp" in options.flags else source.splitlines()
        return
    documents = read_documents(source)
    if "slurp" in options.flags:
        yield list(documents)
        return
    yield from documents


def read_file(name: str) -> str:
    with open(name, encoding="utf-8", errors="replace") as file:
        return file.read()


def read_stdin() -> str:
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def read_documents(source: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(strict=False)
    at = skip_blanks(source, 0)
    while at < len(source):
        value, at = decoder.raw_decode(source, at)
        at = skip_blanks(source, at)
        yield value


def skip_blanks(source: str, at: int) -> int:
    match = BLANKS.match(source, at)
    return match.end() if match else at


def write(value: Any, flags: set[str]) -> None:
    if flags & {"raw", "joined"} and isinstance(value, str):
        line = to_string(value)
    else:
        line = text(value, indent=None if "compact" in flags else 2, sort="sort" in flags)
    end = "" if "joined" in flags else "\n"
    sys.stdout.buffer.write((line + end).encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
