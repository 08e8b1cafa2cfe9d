"""A call of the page, taken apart: arguments, what was sent, what came back, what it became."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.codec import decoded
from toolyard.web.recording.hops import Hop
from toolyard.web.views.sizes import tokens_in


@dataclass(frozen=True, slots=True)
class Clocked:
    """When a call began and ended."""

    began: float
    ended: float


def stages(given: Json, hops: Sequence[Hop], result: Json, clocked: Clocked) -> list[JsonObject]:
    """A stage's time is what it took to get to its value from the one before."""
    if not hops:
        return [
            _stage("arguments", given, 0.0),
            _stage("result", result, clocked.ended - clocked.began),
        ]
    first, last = hops[0], hops[-1]
    made = [_stage("arguments", given, 0.0)]
    for hop in hops:
        made.append(_stage("sent", hop.arguments, hop.began - clocked.began, hop.to))
        said = decoded(hop.result) if hop.result is not None else {"error": hop.error}
        made.append(_stage("returned", said, hop.ended - hop.began, hop.to))
    made[1]["ms"] = _ms(first.began - clocked.began)
    made.append(_stage("result", result, clocked.ended - last.ended))
    return made


def _stage(name: str, value: Json, seconds: float, to: str = "") -> JsonObject:
    stage = {"name": name, "ms": _ms(seconds), "tokens": tokens_in(value), "value": value}
    return {**stage, "to": to} if to else stage


def _ms(seconds: float) -> float:
    return round(max(seconds, 0.0) * 1000, 3)
