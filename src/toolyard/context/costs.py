"""What each view of a catalog costs a model, side by side. Pure."""

from __future__ import annotations

from typing import NamedTuple

from toolyard.catalog.snapshot import Catalog
from toolyard.context.display import IsPinned, definitions, pinned
from toolyard.context.reading import VIEWS, ViewName
from toolyard.context.sizes import tokens_in


class ViewCost(NamedTuple):
    view: ViewName
    tools: int  # that are listed
    tokens: int
    saved: float  # of what the full view takes; below 0 where a view takes more


def view_costs(catalog: Catalog, is_pinned: IsPinned = pinned) -> tuple[ViewCost, ...]:
    lists = {view: definitions(catalog, view, is_pinned) for view in VIEWS}
    tokens = {view: tokens_in(listed) for view, listed in lists.items()}
    whole = tokens["full"] or 1
    return tuple(
        ViewCost(view, len(lists[view]), tokens[view], 1 - tokens[view] / whole) for view in VIEWS
    )
