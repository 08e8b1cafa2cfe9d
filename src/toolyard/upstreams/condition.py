"""How one upstream is faring: its latest failure, and when it may be tried again."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from time import monotonic, time

from toolyard.telemetry import logger, masked
from toolyard.upstreams.backoff import Backoff
from toolyard.upstreams.definition import ServerDefinition
from toolyard.upstreams.health import JournalEntry, State
from toolyard.upstreams.link.link import Down, LinkError

log = logger("upstreams")
MOST_ENTRIES = 200


class Condition:
    """What connections and calls have shown, and the state of the upstream that follows.

    `on_change` is called when the first of several failures in a row makes it unavailable.
    Whatever is said about a failure is said without the secrets of the definition.
    """

    def __init__(self, definition: ServerDefinition, on_change: Callable[[], None]) -> None:
        self._server = definition.name
        self.disabled = definition.disabled
        self._secrets = definition.secrets
        self._on_change = on_change
        self.backoff = Backoff()
        self._failure: str | None = None  # since the last connection that could be opened
        self.last_error: str | None = None
        self.stderr = ""  # of the process that failed last
        self.journal: deque[JournalEntry] = deque(maxlen=MOST_ENTRIES)

    # -- what it is --------------------------------------------------------------------

    def state(self, *, live: bool, opening: bool) -> State:
        """Of an upstream that has live connections, or one that is being opened."""
        if self.disabled is not None:
            return "disabled"
        if live:
            return "up"
        if opening:
            return "starting"
        return "down" if self._failure is not None else "idle"

    def trouble(self, *, live: bool) -> str | None:
        """Why it cannot be called now."""
        return self.disabled or (None if live else self._failure)

    def retry_in(self) -> float:
        """Seconds until it is tried again; 0 where it may be tried now."""
        return self.backoff.left(monotonic())

    def refuse_if_disabled(self) -> None:
        if self.disabled is not None:
            raise Down(f"is disabled: {self.disabled}")

    def refuse_while_down(self) -> None:
        seconds = self.retry_in()
        if seconds > 0:
            raise Down(f"is down ({self._failure}); the next attempt is in {seconds:.1f} s")

    # -- what happens to it ------------------------------------------------------------

    def connected(self) -> bool:
        """A connection is open. Was it down before?"""
        failure, self._failure = self._failure, None
        self._note("connected")
        return failure is not None

    def try_again(self) -> None:
        """Somebody asked for it: whoever comes next need not wait."""
        self._note("tried again by hand")
        self.backoff.worked()

    def _note(self, text: str) -> None:
        self.journal.append(JournalEntry(time(), text))

    def could_not_connect(self, error: LinkError, stderr: str) -> None:
        self.backoff.refused(monotonic())
        self._failed(error, stderr)

    def lost_connection(self, error: LinkError, stderr: str) -> None:
        self.backoff.crashed(monotonic())
        self._failed(error, stderr)

    def _failed(self, error: LinkError, stderr: str) -> None:
        before, self._failure = self._failure, self.public_text(error)
        self.last_error = self._failure
        self.stderr = self.masked(stderr)
        self._note(self._failure)
        # The same failure again and again is not news.
        level = logging.DEBUG if before == self._failure else logging.WARNING
        log.log(level, "%s: %s", self._server, self._failure)
        if before is None:
            self._on_change()

    # -- what must not be said ---------------------------------------------------------

    def keep_to_itself(self, secrets: frozenset[str]) -> None:
        """Tools have other defaults now: what it says about failures may hold those as well."""
        self._secrets |= secrets

    def public_text(self, error: LinkError) -> str:
        return self.masked(str(error))

    def masked(self, text: str) -> str:
        return masked(text, self._secrets)
