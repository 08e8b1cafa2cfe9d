"""Which of many documents a query is about: BM25 over weighted fields and over 4-grams. Pure.

A document is given as texts with weights: a word in the name counts more than one in the
description. Stems of words find other forms of the same word; 4-grams of characters find what is
spelt or compounded differently, and count for less. What each term adds to each document is worked
out when the index is made, so that a query only adds up. Nothing is cut off because it matches
weakly: whoever asks is told which words matched nothing, which is what stops a search in vain.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate
from math import log
from typing import NamedTuple

from toolyard.context.words import STOP_WORDS, grams_of, stem, words_of

# BM25's own: how soon repetition stops counting, how much long documents are held back.
REPETITION, LENGTH = 1.2, 0.75
GRAM_WEIGHT = 0.35
# More words than that are not a question but a text; the rarest say what it is about.
MOST_TERMS = 48
# How many occurrences of words a query looks at, twice: some milliseconds' worth.
MOST_OCCURRENCES = 12_000

Field = tuple[str, float]  # a text and its weight


class Occurrences(NamedTuple):
    """Documents by number, and what a term adds to each.

    Arrays: the collector would stop everything to look at millions of pairs.
    """

    numbers: array[int]
    scores: array[float]


Postings = Mapping[str, Occurrences]


@dataclass(frozen=True, slots=True)
class Document:
    """The terms of one document, counted; made once for as long as its texts stay the same."""

    terms: Mapping[str, float]
    grams: Mapping[str, float]


def document(fields: Iterable[Field]) -> Document:
    weights: dict[str, float] = {}
    for text, weight in fields:
        for word in words_of(text):
            weights[word] = weights.get(word, 0.0) + weight
    terms: dict[str, float] = {}
    grams: dict[str, float] = {}
    for word, weight in weights.items():
        if word in STOP_WORDS:
            continue
        term = stem(word)
        terms[term] = terms.get(term, 0.0) + weight
        for gram in grams_of(word):
            grams[gram] = grams.get(gram, 0.0) + weight
    return Document(terms, grams)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Where a query led: documents by their number, best first, and words that led nowhere."""

    hits: tuple[tuple[int, float], ...]
    unmatched: tuple[str, ...]


class Index:
    """Documents that can be searched. Never edited."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._terms = _postings([document.terms for document in documents], 1.0)
        self._grams = _postings([document.grams for document in documents], GRAM_WEIGHT)

    def search(self, query: str, most: int, among: Collection[int] | None = None) -> Ranked:
        """`among`: only these documents; whether a word matches is asked of all of them."""
        words = [word for word in dict.fromkeys(words_of(query)) if word not in STOP_WORDS]
        scores: dict[int, float] = {}
        stems = dict.fromkeys(map(stem, words))
        grams = dict.fromkeys(gram for word in words for gram in grams_of(word))
        for entries in (*self._rarest(stems, self._terms), *self._rarest(grams, self._grams)):
            _add(scores, entries)
        hits = [hit for hit in scores.items() if among is None or hit[0] in among]
        best = nlargest(most, hits, key=lambda hit: (hit[1], -hit[0]))
        unmatched = tuple(word for word in words if stem(word) not in self._terms)
        return Ranked(tuple(best), unmatched)

    def _rarest(self, terms: Iterable[str], all_postings: Postings) -> list[Occurrences]:
        lists = [all_postings[term] for term in terms if term in all_postings]
        lists.sort(key=lambda entries: len(entries.numbers))
        sizes = accumulate(len(entries.numbers) for entries in lists)
        few = sum(1 for size in sizes if size <= MOST_OCCURRENCES)
        return lists[: min(max(few, 1), MOST_TERMS)]


def _add(scores: dict[int, float], entries: Occurrences) -> None:
    for number, score in zip(entries.numbers, entries.scores, strict=True):
        scores[number] = scores.get(number, 0.0) + score


def _postings(counts: Sequence[Mapping[str, float]], weight: float) -> Postings:
    lengths = [sum(terms.values()) for terms in counts]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    lists: dict[str, Occurrences] = {}
    for number, terms in enumerate(counts):
        held_back = REPETITION * (1 - LENGTH + LENGTH * lengths[number] / (average or 1.0))
        for term, count in terms.items():
            entries = lists.get(term)
            if entries is None:
                entries = lists[term] = Occurrences(array("I"), array("d"))
            entries.numbers.append(number)
            entries.scores.append(weight * count * (REPETITION + 1) / (count + held_back))
    return {term: _with_rarity(entries, len(counts)) for term, entries in lists.items()}


def _with_rarity(entries: Occurrences, total: int) -> Occurrences:
    """What few documents have says more about them."""
    size = len(entries.numbers)
    rarity = log(1 + (total - size + 0.5) / (size + 0.5))
    return Occurrences(entries.numbers, array("d", [score * rarity for score in entries.scores]))
