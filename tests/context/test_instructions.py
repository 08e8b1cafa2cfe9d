"""The instructions of several servers become one text."""

from __future__ import annotations

from toolyard.context.instructions import merged


def test_our_own_come_first_and_each_server_has_a_section() -> None:
    assert merged("Be kind.", {"a": "Use a.\n", "b": "Use b."}, 100) == (
        "Be kind.\n\n## a\n\nUse a.\n\n## b\n\nUse b."
    )


def test_nothing_to_say_is_nothing() -> None:
    assert merged(None, {"a": " \n"}, 100) is None
    assert merged("Own.", {}, 100) == "Own."
    assert merged("Own.", {"a": "x"}, 0) == "Own."


def test_short_ones_stay_whole_and_long_ones_share_the_rest_and_say_that_they_were_cut() -> None:
    text = merged(None, {"long": "word " * 500, "short": "Use me.", "other": "more " * 500}, 600)
    assert text is not None
    sections = dict(part.split("\n\n", 1) for part in text.removeprefix("## ").split("\n\n## "))
    assert sections["short"] == "Use me."
    assert sections["long"].startswith("word word") and "left out" in sections["long"]
    assert "word\n(" in sections["long"]
    assert abs(len(sections["long"]) - len(sections["other"])) <= 5
    assert 550 < sum(map(len, sections.values())) <= 600


def test_a_cut_never_splits_a_character() -> None:
    text = merged(None, {"a": "Übergrößenträger " * 100}, 200)
    assert text is not None and "�" not in text
    assert len(text.encode()) <= 200 + len("## a\n\n")
