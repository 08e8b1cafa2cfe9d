"""What a session is told without asking once it is ready: warnings, and what it may have missed.

Knows no project: the app says which warnings are for clients.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from toolyard.catalog.keeper import Keeper
from toolyard.protocol.call import Call, Channel, Result, Session
from toolyard.protocol.kinds import LIST_CHANGED, Kind


@dataclass(frozen=True, slots=True)
class News:
    """What sessions are told about the project beside its entries."""

    keeper: Keeper
    # The logger name of a warning; None if it is not for clients.
    logger_of: Callable[[str], str | None]
    # The kinds that differ from what the last run left behind; reported once.
    unseen: Callable[[], Collection[Kind]] | None = None

    async def initialized(self, call: Call, channel: Channel) -> Result:
        session = channel.session
        if session is None:
            return {}
        say = partial(self._warn, session)
        session.on_close(self.keeper.announcer.hear_warnings(say))
        for warning in self.keeper.warnings:
            say(warning)
        if self.unseen is not None and call.revision.list_changed:
            await self.keeper.catalog()
            for method in sorted({LIST_CHANGED[kind] for kind in self.unseen()}):
                session.notify(method, {})
        return {}

    def _warn(self, session: Session, warning: str) -> None:
        logger = self.logger_of(warning)
        if logger is not None:
            session.log("warning", warning, logger)
