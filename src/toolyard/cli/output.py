"""What commands print: tables for people, JSON for programs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence

import orjson

from toolyard.protocol.call import Json
from toolyard.protocol.codec import dumps
from toolyard.telemetry import counted, one_line

__all__ = ["counted", "near", "pretty", "print_json", "table"]


def near(place: str) -> str:
    """A path below the current folder, as one would type it."""
    return place.removeprefix(os.getcwd() + os.sep)


def print_json(value: Json) -> None:
    print(pretty(value))


def pretty(value: Json) -> str:
    """Indented; numbers beyond 64 bits, which the indenting encoder refuses, stay exact."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        return dumps(value).decode()


def table(rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Columns as wide as they need to be, numbers to the right, lines cut to the terminal."""
    lines = [tuple(_cell(cell) for cell in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)] if lines else []
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    for row in lines:
        cells = (
            cell.rjust(size) if _is_number(cell) else cell.ljust(size)
            for cell, size in zip(row, widths, strict=True)
        )
        line = "  ".join(cells).rstrip()
        yield line if not width or len(line) <= width else line[: width - 1] + "…"


def _cell(cell: object) -> str:
    return f"{cell:,}" if isinstance(cell, int) else one_line(str(cell))


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").isdecimal()
