"""How much of what is served a model reads: flags, registry files, tokens and rules together."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from toolyard.access.rules import Who, read_who
from toolyard.app.federation import Federation
from toolyard.app.plan import Plan
from toolyard.catalog.entries import Tool
from toolyard.context.cutting import limit_of
from toolyard.context.display import pinned
from toolyard.context.reading import Reading, reading_of
from toolyard.errors import ConfigError, Problem
from toolyard.methods.finding import FindTools, ToolIndexes
from toolyard.methods.kept_results import KeptResults
from toolyard.methods.offer import Offer
from toolyard.methods.results import Results
from toolyard.methods.views import Saved, ToolViews
from toolyard.protocol.call import Call, Caller, JsonObject
from toolyard.settings import Settings


@dataclass(frozen=True, slots=True)
class Context:
    """What decides how much a model reads."""

    plan: Plan
    federation: Federation
    results: Results
    indexes: ToolIndexes = field(default_factory=ToolIndexes)

    def offer(self, offer: Offer) -> Offer:
        """The offer, with its views."""
        chosen, by_caller = reading_in(self.plan.settings), readings_of(self.plan.settings)

        def configured(call: Call) -> Reading | None:
            if by_caller is not None:
                own = by_caller(call.caller)
                if own is not None:
                    return own
            return chosen or self.federation.registries.reading

        find = FindTools(offer, self.indexes)
        is_off_here = by_caller is None and chosen is None and not self.plan.settings.result_limit

        def is_off() -> bool:
            return is_off_here and self.federation.registries.is_all_sent

        views = ToolViews(
            find, configured, self.is_pinned, self._reader, is_off, self.results.saved
        )
        return replace(offer, views=views)

    def _reader(self) -> Tool | None:
        """Whoever may get a part must be able to read on."""
        if self.federation.registries.limits_results or self.results.general_limit():
            return self.results.reader()
        return None

    def is_pinned(self, tool: Tool) -> bool:
        patterns = (*self.plan.settings.pinned, *self.federation.registries.pinned)
        return pinned(tool) or any(fnmatchcase(tool.name, pattern) for pattern in patterns)


def context_of(plan: Plan, federation: Federation, saved: Saved | None = None) -> Context:
    settings = plan.settings
    place = settings.place("result_limit")
    try:
        own_limit = limit_of(settings.result_limit)
    except ValueError as error:
        raise ConfigError([Problem(place.file, place.pointer, str(error))]) from None
    store = KeptResults(
        _folder(settings), settings.max_kept_results_bytes, settings.kept_results_secs
    )
    results = Results(store, lambda: own_limit or federation.registries.result_limit, saved)
    return Context(plan, federation, results)


def _folder(settings: Settings) -> str:
    if settings.results_dir:
        return os.path.expanduser(settings.results_dir)
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(base, "toolyard", "results")


def reading_in(settings: Settings) -> Reading | None:
    """From the flags `--view` and `--budget`, or the settings of these names."""
    place = settings.place("budget" if settings.budget else "view")
    fields: JsonObject = {"view": settings.view, "budget": settings.budget}
    return _reading(fields, Problem(place.file, place.pointer, ""))


def readings_of(settings: Settings) -> Callable[[Caller], Reading | None] | None:
    """What tokens, and then rules, choose for a caller; None if none of them chooses."""
    tokens = [(Who(token=entry.get("name")), reading) for entry, reading in _in(settings, "tokens")]
    rules = [(read_who(entry.get("for", {})), reading) for entry, reading in _in(settings, "rules")]
    choices = (*tokens, *rules)
    if not choices:
        return None

    def of(caller: Caller) -> Reading | None:
        return next((reading for who, reading in choices if who.includes(caller)), None)

    return of


def _in(settings: Settings, section: str) -> Iterator[tuple[JsonObject, Reading]]:
    place = settings.place(section)
    for number, entry in enumerate(getattr(settings, section)):
        at = Problem(place.file, f"{place.pointer}/{number}", "")
        reading = _reading(entry, at) if isinstance(entry, dict) else None
        if reading is not None:
            yield entry, reading


def _reading(fields: JsonObject, place: Problem) -> Reading | None:
    try:
        return reading_of(fields)
    except ValueError as error:
        raise ConfigError([place._replace(message=str(error))]) from None
