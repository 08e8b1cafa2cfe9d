"""What measuring writes into docs/performance.md, and what it leaves alone."""

from __future__ import annotations

import pytest

from bench.__main__ import SECTIONS, placed
from bench.picture import PAGE, PICTURE, drawn, figures

WRITTEN = "# Speed\n\nBefore.\n\n<!-- measured: http -->\n\n| old |\n\n<!-- end -->\n\nAfter.\n"


def test_what_people_wrote_around_a_table_stays() -> None:
    assert placed(WRITTEN, "http", "| new |") == WRITTEN.replace("old", "new")


def test_what_was_never_measured_before_comes_last() -> None:
    page = placed(WRITTEN, "auth", "| new |")
    assert page.startswith(WRITTEN.rstrip())
    assert page.endswith(
        f"## {SECTIONS['auth']}\n\n<!-- measured: auth -->\n\n| new |\n\n<!-- end -->\n"
    )
    assert placed(page, "auth", "| new |") == page


def test_a_mark_that_is_not_closed_is_named() -> None:
    with pytest.raises(SystemExit, match="measured: http"):
        placed("<!-- measured: http -->\n| old |\n", "http", "| new |")


def test_every_part_has_its_place_in_the_page() -> None:
    page = PAGE.read_text()
    assert [name for name in SECTIONS if f"<!-- measured: {name} -->" not in page] == []


def test_the_picture_shows_the_figures_of_the_page() -> None:
    costs = figures(PAGE.read_text())
    assert len(costs) >= 5
    assert PICTURE.read_text() == drawn(costs)
