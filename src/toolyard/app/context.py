"""How much of what is served a model reads: flags, registry files, tokens and rules together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from toolyard.access.rules import Who, read_who
from toolyard.app.federation import Federation
from toolyard.app.plan import Plan
from toolyard.catalog.entries import Tool
from toolyard.context.display import pinned
from toolyard.context.reading import Reading, reading_of
from toolyard.errors import ConfigError, Problem
from toolyard.methods.finding import FindTools, ToolIndexes
from toolyard.methods.offer import Offer
from toolyard.methods.views import Views
from toolyard.protocol.call import Call, Caller, JsonObject
from toolyard.settings import Settings


@dataclass(frozen=True, slots=True)
class Context:
    """What decides how much a model reads."""

    plan: Plan
    federation: Federation
    indexes: ToolIndexes = field(default_factory=ToolIndexes)

    def offer(self, offer: Offer) -> Offer:
        """The offer, with its views."""
        chosen, by_caller = reading_in(self.plan.settings), readings_of(self.plan.settings)

        def configured(call: Call) -> Reading | None:
            own = by_caller(call.caller) if by_caller is not None else None
            return own or chosen or self.federation.registries.reading

        views = Views(FindTools(offer, self.indexes), configured, self.is_pinned)
        return replace(offer, views=views)

    def is_pinned(self, tool: Tool) -> bool:
        patterns = (*self.plan.settings.pinned, *self.federation.registries.pinned)
        return pinned(tool) or any(fnmatchcase(tool.name, pattern) for pattern in patterns)


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
