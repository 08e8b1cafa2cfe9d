"""A call of the page, step by step: arguments, what was sent, what came back, what it became."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolyard.context.sizes import tokens_in
from toolyard.protocol.call import Json, JsonObject
from toolyard.virtual.codec import decoded
from toolyard.web.recording.hops import Hop


@dataclass(frozen=True, slots=True)
class Clocked:
    """When a call began and ended."""

    began: float
    ended: float


def stages(arguments: Json, hops: Sequence[Hop], result: Json, times: Clocked) -> list[JsonObject]:
    """A stage's time is what it took to get from the value before to its own."""
    if not hops:
        return [
            _stage("arguments", arguments, 0.0),
            _stage("result", result, times.ended - times.began),
        ]
    first_hop, last_hop = hops[0], hops[-1]
    steps = [_stage("arguments", arguments, 0.0)]
    for hop in hops:
        steps.append(_stage("sent", hop.arguments, hop.began - times.began, hop.to))
        answer = decoded(hop.result) if hop.result is not None else {"error": hop.error}
        steps.append(_stage("returned", answer, hop.ended - hop.began, hop.to))
    steps[1]["ms"] = _ms(first_hop.began - times.began)
    steps.append(_stage("result", result, times.ended - last_hop.ended))
    return steps


def _stage(name: str, value: Json, seconds: float, to: str = "") -> JsonObject:
    stage = {"name": name, "ms": _ms(seconds), "tokens": tokens_in(value), "value": value}
    return {**stage, "to": to} if to else stage


def _ms(seconds: float) -> float:
    return round(max(seconds, 0.0) * 1000, 3)
