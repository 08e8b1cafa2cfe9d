"""The audit log's file: what its lines look like, and what becomes of a long one."""

from __future__ import annotations

import json
import multiprocessing
import re
from pathlib import Path

import pytest

from toolyard.access.audit_file import AuditFile, Rotation

LINE = {"caller": "token:ann", "method": "tools/call", "name": "a|b=c\\d", "ms": 1.5}


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_long_file_is_put_aside_and_the_oldest_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    file = AuditFile(str(path), rotation=Rotation(size=200, keep=2))
    for number in range(30):
        file.write({"n": number})
    kept = [tmp_path / name for name in ("audit.log.2", "audit.log.1", "audit.log")]
    assert sorted(tmp_path.iterdir()) == sorted(kept)
    numbers = [json.loads(line)["n"] for each in kept for line in lines(each)]
    assert numbers == list(range(numbers[0], 30)) and numbers[0] > 0
    assert all(each.stat().st_mode & 0o077 == 0 for each in kept)


def test_a_file_that_another_program_has_put_aside_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    file = AuditFile(str(path))
    file.write({"n": 1})
    path.rename(tmp_path / "moved")
    file.write({"n": 2})
    assert json.loads(path.read_text())["n"] == 2


def write_many(path: str, name: str) -> None:
    file = AuditFile(path, rotation=Rotation(size=2_000, keep=1_000))
    for number in range(300):
        file.write({"who": name, "n": number})


def test_writers_that_share_a_file_lose_no_line_when_it_rotates(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    start = multiprocessing.get_context("spawn")
    writers = [start.Process(target=write_many, args=(str(path), name)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    seen = {(r["who"], r["n"]) for f in tmp_path.iterdir() for r in map(json.loads, lines(f))}
    assert seen == {(name, number) for name in "abc" for number in range(300)}


@pytest.mark.parametrize(
    ("fields", "end"),
    [
        (
            {**LINE, "outcome": "refused", "code": -32602},
            r"tools/call\|tools/call\|5\|rt=\d{13} suser=token:ann fname=a|b\\=c\\\\d "
            r"outcome=refused reason=-32602 cfp1=1.5 cfp1Label=ms",
        ),
        (
            {"outcome": "unauthorized", "address": "10.0.0.7"},
            r"unauthorized\|unauthorized\|7\|rt=\d{13} outcome=unauthorized src=10.0.0.7",
        ),
    ],
)
def test_a_line_of_cef_has_its_head_and_escaped_fields(
    tmp_path: Path, fields: dict[str, object], end: str
) -> None:
    path = tmp_path / "audit.log"
    AuditFile(str(path), "cef").write(fields)
    (line,) = lines(path)
    end = end.replace("a|b", r"a\|b")
    assert re.fullmatch(r"CEF:0\|Toolyard\|toolyard\|[\d.]+\|" + end, line), line
