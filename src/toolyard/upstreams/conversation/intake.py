"""How far one upstream is with the roots of its client. Knows no messages."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from toolyard.upstreams.background import Background


class RootsIntake:
    """What an upstream has asked about roots, and whether it is still taking them in."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._questions: set[asyncio.Task[None]] = set()
        self.asked = 0
        self.keeps = False  # it asked for them, and not in a call
        # Calls wait for this: it is taking them in.
        self.settling: asyncio.Task[None] | None = None

    def note(self, question: asyncio.Task[None]) -> None:
        """It has asked for the roots; the task ends when it has its answer."""
        self.asked += 1
        self._questions.add(question)
        question.add_done_callback(self._questions.discard)

    @property
    def pending(self) -> bool:
        return bool(self._questions)

    async def answered(self) -> None:
        if self._questions:
            await asyncio.wait(self._questions)

    def settle(self, work: Coroutine[Any, Any, None]) -> None:
        """Calls wait for this from now on."""
        self.settling = task = self._background.start(work)
        task.add_done_callback(self._settled)

    def _settled(self, task: asyncio.Task[None]) -> None:
        if self.settling is task:
            self.settling = None
