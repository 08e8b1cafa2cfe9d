"""How much of the tools a model reads: the three views, and who may ask for which. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple, get_args

from toolyard.context.meta_tools import META_TOOLS
from toolyard.context.sizes import tokens_in
from toolyard.errors import did_you_mean, shown

# From the fullest to the smallest.
ViewName = Literal["full", "index", "search"]
VIEWS: tuple[ViewName, ...] = get_args(ViewName)
_NAMES: Mapping[str, ViewName] = {view: view for view in VIEWS}


class Reading(NamedTuple):
    """What somebody asks for: a view, or the fullest one within so many tokens."""

    view: ViewName | None = None
    budget: int | None = None


@cache
def smallest_budget() -> int:
    """What the meta tools alone take."""
    return tokens_in(list(META_TOOLS))


def reading_of(fields: Mapping[str, object]) -> Reading | None:
    """From the `view` and `budget` of an address, a flag or a file; None where it has neither.

    Raises ValueError with what is wrong.
    """
    view, budget = fields.get("view"), fields.get("budget")
    if view in (None, "") and budget in (None, "", 0):
        return None
    if view not in (None, "") and budget not in (None, "", 0):
        raise ValueError("view and budget: a budget chooses the view, so name one of them")
    if view not in (None, ""):
        return Reading(view=_view(str(view)))
    return Reading(budget=_budget(str(budget)))


def _view(text: str) -> ViewName:
    view = _NAMES.get(text)
    if view is None:
        names = ", ".join(VIEWS)
        raise ValueError(
            f'there is no view "{shown(text)}"{did_you_mean(text, VIEWS)}: the views are {names}'
        )
    return view


def _budget(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError(f'a budget is a number of tokens, not "{shown(text)}"')
    if int(text) < smallest_budget():
        raise ValueError(
            f"a budget of {int(text)} tokens is too small: the smallest view takes "
            f"about {smallest_budget()}"
        )
    return int(text)
