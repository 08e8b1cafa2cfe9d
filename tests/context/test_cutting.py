"""Results are cut between items or lines, never inside JSON, and stay within their limit."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from toolyard.context.cutting import cut, kept, limit_of
from toolyard.protocol.codec import dumps

SENTENCE = "The rest is kept."


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def first_of(result: Any) -> str:
    said: str = result["content"][0]["text"]
    return said


ROWS = [{"id": number, "name": f'"row" {number}\n', "tags": ["a", "b"]} for number in range(20_000)]


@pytest.mark.parametrize("limit", [2_000, 16_000, 100_000])
@pytest.mark.parametrize(
    "value",
    [
        ROWS,
        {"total": 20_000, "items": ROWS, "next": None},
        {"data": {"page": {"rows": ROWS}, "small": [1, 2, 3]}},
    ],
)
def test_a_list_in_json_loses_its_last_items_and_stays_json(value: Any, limit: int) -> None:
    shorter = cut(text(json.dumps(value)), limit, SENTENCE)
    assert limit // 2 < len(dumps(shorter)) <= limit
    part = json.loads(first_of(shorter))
    rows = part if isinstance(part, list) else part.get("items") or part["data"]["page"]["rows"]
    assert rows == ROWS[: len(rows)] and rows
    assert shorter["content"][-1] == {"type": "text", "text": SENTENCE}


def test_lines_stay_whole() -> None:
    lines = "".join(f'line {number} with ünïcödé and "quotes"\n' for number in range(50_000))
    shorter = cut(text(lines), 10_000, SENTENCE)
    assert lines.startswith(first_of(shorter) + "\n")
    assert 5_000 < len(dumps(shorter)) <= 10_000


def test_json_without_a_list_is_left_out_rather_than_broken() -> None:
    shorter = cut(text(json.dumps({"blob": "x" * 100_000})), 5_000, SENTENCE)
    assert shorter == {"content": [{"type": "text", "text": SENTENCE}]}


def test_whole_items_are_kept_and_a_picture_is_never_halved() -> None:
    picture = {"type": "image", "data": "A" * 50_000, "mimeType": "image/png"}
    small = {"type": "text", "text": "Here it is."}
    shorter = cut({"content": [small, picture, small]}, 4_000, SENTENCE)
    assert shorter["content"] == [small, {"type": "text", "text": SENTENCE}]


def test_random_results_are_within_their_limit_and_json_stays_json() -> None:
    chance = random.Random(7)

    def value(depth: int) -> Any:
        if depth == 0:
            return chance.choice([1, 2.5, "ä" * chance.randint(0, 60), None, True, '\\"\n'])
        if chance.random() < 0.5:
            return [value(depth - 1) for _ in range(chance.randint(0, 12))]
        return {f"k{n}": value(depth - 1) for n in range(chance.randint(0, 8))}

    for _ in range(200):
        whole = text(json.dumps(value(4)))
        limit = chance.randint(2_000, 8_000)
        if len(dumps(whole)) <= limit:
            continue
        shorter = cut(whole, limit, SENTENCE)
        assert len(dumps(shorter)) <= limit
        if len(shorter["content"]) == 2:
            json.loads(first_of(shorter))


def test_what_is_kept_is_the_text_or_else_the_whole_result() -> None:
    assert kept(text("a\nb")) == ("a\nb", False)
    assert kept(text("[1]")) == ("[1]", True)
    both = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    assert json.loads(kept(both).text) == both
    same = {**text("[1]"), "structuredContent": [1]}
    assert kept(same) == ("[1]", True)
    other = {**text("One."), "structuredContent": {"n": 1}}
    assert json.loads(kept(other).text) == other


@pytest.mark.parametrize(
    ("value", "size"),
    [(8000, 32_000), ("8000", 32_000), ("8000 tokens", 32_000), ("64 kB", 64_000),
     ("1MB", 1_000_000), ("5000 bytes", 5_000), (None, None), (0, None), ("", None)],
)  # fmt: skip
def test_a_limit_is_in_tokens_or_bytes(value: object, size: int | None) -> None:
    assert limit_of(value) == size


@pytest.mark.parametrize("value", ["much", "12 parsecs", -5, True, 1.5, "100 bytes", 10])
def test_a_limit_that_cannot_be_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="must be"):
        limit_of(value)
