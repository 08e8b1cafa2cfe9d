"""Words of a text for the search: identifiers taken apart, endings gone, common words left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

# Grammar, and how people begin a request; nothing that a tool could be about.
_COMMON = """
a about all also am an and any are as at be been but by can could did do does doing each for
from had has have help her him his how i if in into is it its just know let like me my need
no not of on one or our out please provide she should so some such tell than that the their
them then there these they this those to tool up us use used using want was we were what
when where which who will with would you your
"""
STOP_WORDS = frozenset(_COMMON.split())
GRAM = 4
_WORD = re.compile(r"[^\W_]+")
# getUserByID3 -> get User By ID 3
_JOINTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-zA-Z])(?=[0-9])")


def words_of(text: str) -> list[str]:
    """In lower case and in order, common ones included."""
    return [word for part in _WORD.findall(text) for word in _JOINTS.sub(" ", part).lower().split()]


def terms_of(text: str) -> Iterator[str]:
    """The stems of the words that mean something."""
    return (stem(word) for word in words_of(text) if word not in STOP_WORDS)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """What a word has in common with its other forms. Rough: it need only do so on both sides."""
    if len(word) <= 3 or not word.isascii():
        return word
    word = _singular(word)
    for ending, least, substitute in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return _undoubled(word[: -len(ending)] + substitute)
    return word.removesuffix("e") if len(word) > 4 else word


_ENDINGS = (
    ("ational", 3, "at"),
    ("ization", 3, "iz"),
    ("ations", 3, "at"),
    ("ation", 3, "at"),
    ("ately", 3, "at"),
    ("ating", 3, "at"),
    ("ator", 3, "at"),
    ("ated", 3, "at"),
    ("ate", 3, "at"),
    ("ition", 4, "it"),
    ("ment", 4, ""),
    ("ness", 4, ""),
    ("ally", 4, "al"),
    ("ingly", 3, ""),
    ("ing", 3, ""),
    ("edly", 3, ""),
    ("ied", 2, "y"),
    ("ed", 3, ""),
    ("er", 4, ""),
    ("or", 4, ""),
    ("ion", 4, ""),
    ("ly", 4, ""),
)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _undoubled(word: str) -> str:
    """running -> runn -> run"""
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word


@lru_cache(maxsize=20_000)
def grams_of(word: str) -> tuple[str, ...]:
    """What it shares with words that are spelt nearly the same."""
    marked = f"^{word}$"
    return tuple(marked[at : at + GRAM] for at in range(max(1, len(marked) - GRAM + 1)))
