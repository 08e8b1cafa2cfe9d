"""Which of many documents a query is about: BM25 over weighted fields and over 4-grams. Pure.

A document is given as texts with weights: a word in the name counts more than one in the
description. Stems of words find other forms of the same word; 4-grams of characters find what is
spelt or compounded differently, and count for less. What each term adds to each document is worked
out when the index is made, so that a query only adds up. Nothing is cut off because it matches
weakly: whoever asks is told which words matched nothing, which is what stops a search in vain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate
from math import log

from toolyard.context.words import STOP_WORDS, grams_of, stem, words_of

# BM25's own: how soon repetition stops counting, how much long documents are held back.
REPETITION, LENGTH = 1.2, 0.75
GRAM_WEIGHT = 0.35
# More words than that are not a question but a text; the rarest say what it is about.
MOST_TERMS = 48
# How many entries of the index a query looks at, twice: some milliseconds' worth.
MOST_ENTRIES = 12_000

Field = tuple[str, float]  # a text and its weight
Entries = Sequence[tuple[int, float]]  # documents by number, and what a term adds to each
Postings = Mapping[str, Entries]


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

    def _rarest(self, terms: Iterable[str], all_postings: Postings) -> list[Entries]:
        lists = sorted((all_postings[term] for term in terms if term in all_postings), key=len)
        sizes = accumulate(map(len, lists))
        few = sum(1 for size in sizes if size <= MOST_ENTRIES)
        return lists[: min(max(few, 1), MOST_TERMS)]


def _add(scores: dict[int, float], entries: Entries) -> None:
    for number, score in entries:
        scores[number] = scores.get(number, 0.0) + score


def _postings(counts: Sequence[Mapping[str, float]], weight: float) -> Postings:
    lengths = [sum(terms.values()) for terms in counts]
    average = sum(lengths) / len(lengths) if lengths else 1.0
    lists: dict[str, list[tuple[int, float]]] = {}
    for number, terms in enumerate(counts):
        held_back = REPETITION * (1 - LENGTH + LENGTH * lengths[number] / (average or 1.0))
        for term, count in terms.items():
            share = weight * count * (REPETITION + 1) / (count + held_back)
            lists.setdefault(term, []).append((number, share))
    return {term: _with_rarity(entries, len(counts)) for term, entries in lists.items()}


def _with_rarity(entries: list[tuple[int, float]], total: int) -> list[tuple[int, float]]:
    """What few documents have says more about them."""
    rarity = log(1 + (total - len(entries) + 0.5) / (len(entries) + 0.5))
    return [(number, share * rarity) for number, share in entries]
