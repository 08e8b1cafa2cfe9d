"""One call with each of its stages recorded, whatever kind of target it goes through."""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass, replace
from typing import Any

from toolyard.protocol.call import Call, Channel, JsonObject, Result, Target
from toolyard.virtual.codec import decoded
from toolyard.virtual.composing.compose import ComposedTarget
from toolyard.virtual.stages import Stages
from toolyard.virtual.target import VirtualTarget


async def explain(
    target: Target, arguments: JsonObject, call: Call, channel: Channel, stages: Stages
) -> Result:
    """The same result as a call, or the same error; `stages` holds what it went through."""
    copy = _noted(target, stages)
    virtual = copy if isinstance(copy, VirtualTarget) else VirtualTarget(copy)
    return await virtual.explain(arguments, call, channel, stages)


def _noted(target: Target, stages: Stages) -> Any:
    """A copy of the target, in which the steps of a composition take notes, however deep it is."""
    if isinstance(target, ComposedTarget):
        steps = {name: StepRecorder(step, name, stages) for name, step in target.targets.items()}
        return replace(target, targets=steps)
    source = getattr(target, "source", None)
    if source is None or not is_dataclass(target) or isinstance(target, type):
        return target
    return replace(target, source=_noted(source, stages))


@dataclass(frozen=True, slots=True)
class StepRecorder:
    """A step of a composition that notes what it was given and what came back."""

    target: Target
    name: str
    stages: Stages

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        self.stages.note(f"{self.name} is given", arguments)
        began = self.stages.clock()
        result = decoded(await self.target.call(arguments, call, channel))
        self.stages.note(f"{self.name} returns", result, self.stages.clock() - began)
        return result
