"""What sources answered and models do not get to read, because a tool of ours makes less of it.

Nothing is measured on the way of a call that passes a result on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from toolyard.observation.outcomes import result_characters
from toolyard.protocol.call import Call, Result

# While a composition runs: the characters that its steps answered, and what these have saved.
_steps: ContextVar[list[int] | None] = ContextVar("_steps", default=None)


class Savings:
    """Looks on while results are made from others, and tells `save` how many characters less."""

    __slots__ = ("_save",)

    def __init__(self, save: Callable[[Call, int], None]) -> None:
        self._save = save

    def projection(self, call: Call, result: Result, make: Callable[[Result], Result]) -> Result:
        made = make(result)
        self._add(call, result_characters(result) - result_characters(made))
        return made

    async def composition(self, call: Call, run: Callable[[], Awaitable[Result]]) -> Result:
        around, answered = _steps.get(), [0]
        _steps.set(answered)
        try:
            result = await run()
        finally:
            _steps.set(around)
        self._add(call, answered[0] - result_characters(result))
        return result

    def step(self, result: Result) -> None:
        answered = _steps.get()
        if answered is not None:
            answered[0] += result_characters(result)

    def _add(self, call: Call, characters: int) -> None:
        """What a step has saved, its composition has: nobody called the step by its name."""
        answered = _steps.get()
        if answered is None:
            self._save(call, characters)
        else:
            answered[0] += characters
