"""What spans are made of: ids that nobody else has, and texts that stay short."""

from __future__ import annotations

import subprocess
import sys

import pytest

from toolyard.errors import ProtocolError
from toolyard.observation.tracing.records import (
    LONGEST_PAYLOAD,
    LONGEST_TEXT,
    SUBJECTS,
    payload,
    subject_in,
)
from toolyard.observation.tracing.requests import failed
from toolyard.observation.tracing.sampling import sampler_of
from toolyard.observation.tracing.spans import Place, Tracer

# A pool that was filled before the fork, and ids that both sides take after it.
FORKING = """
import os
from toolyard.observation.tracing.sampling import sampler_of
from toolyard.observation.tracing.spans import Tracer

tracer = Tracer(sampler_of({}), print)
tracer.root().child()
child = os.fork()
ids = [id for place in (tracer.root() for _ in range(2000)) for id in (place.trace_id,
       place.child().span_id)]
if child:
    os.waitpid(child, 0)
print(*ids, sep="\\n")
"""


def root() -> Place:
    return Tracer(sampler_of({}), lambda _record: None).root()


def test_ids_are_of_the_right_length_and_no_two_are_the_same_beyond_a_pool() -> None:
    roots = [root() for _ in range(3000)]
    children = [place.child() for place in roots]
    assert {len(place.trace_id) for place in roots} == {32}
    assert {len(place.span_id) for place in roots + children} == {16}
    assert len({place.trace_id for place in roots}) == 3000
    assert len({place.span_id for place in roots + children}) == 6000


def test_a_process_that_was_forked_takes_no_id_of_its_parents() -> None:
    ran = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, check=True)
    ids = ran.stdout.split()
    assert len(ids) == 8000
    assert len(set(ids)) == 8000


@pytest.mark.parametrize("method", SUBJECTS)
def test_what_a_span_is_about_is_cut(method: str) -> None:
    assert subject_in(method, {SUBJECTS[method].param: "x" * 100_000}) == "x" * LONGEST_TEXT


@pytest.mark.parametrize("name", [None, 7, ["x"], {"x": 1}])
def test_what_is_no_text_is_not_what_a_span_is_about(name: object) -> None:
    assert subject_in("tools/call", {"name": name}) is None


@pytest.mark.parametrize("error", [ProtocolError(-32603, "y" * 100_000), ValueError("y" * 100_000)])
def test_what_went_wrong_is_cut(error: Exception) -> None:
    assert failed(error).message == "y" * LONGEST_TEXT


def test_a_payload_is_cut_and_half_a_character_at_its_end_is_no_error() -> None:
    text = payload({"text": "ä" * LONGEST_PAYLOAD})
    assert len(text.encode()) <= LONGEST_PAYLOAD + 2
    assert text.startswith('{"text":"ää')
