"""The least that a hop can be, to measure ours against: in C, and in Python with the parts we use.

They do what every gateway must: HTTP in, an upstream behind, the ids of many clients kept apart.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.built import Built, Unavailable, is_url, not_built
from bench.peers import HOME

IN_C, IN_PYTHON = "a hop in C", "a minimal hop in Python"
SOURCE = Path(__file__).parent / "hop_floor.c"


def in_c(port: int, behind: list[str]) -> list[str]:
    HOME.mkdir(parents=True, exist_ok=True)
    program = HOME / "hop_floor"
    compiling = ("cc", "-O2", "-o", str(program), str(SOURCE))
    if reason := not_built(HOME, program, compiling):
        raise Unavailable(reason)
    return [str(program), str(port), *behind]


def in_python(port: int, behind: list[str]) -> list[str]:
    if not is_url(behind):
        raise Unavailable("it speaks HTTP alone")
    return [sys.executable, "-m", "bench.hop_floor", str(port), *behind]


FLOORS = {IN_C: Built(in_c), IN_PYTHON: Built(in_python)}
