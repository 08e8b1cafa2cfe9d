"""Who sees and calls what. What is not allowed is not there: in no list and for no method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from toolyard.access.globs import Matches, globs
from toolyard.catalog.snapshot import Catalog
from toolyard.errors import ConfigError
from toolyard.protocol.call import Caller, Json, JsonObject
from toolyard.protocol.kinds import FAMILIES, SPELLED, Kind

MAX_VIEWS = 256
_CONDITIONS = frozenset({"token", "subject", "scope", "claim"})


@dataclass(frozen=True, slots=True)
class Allowed:
    """Patterns over what there is; a template counts as a resource."""

    tools: Matches
    resources: Matches
    prompts: Matches

    def allows(self, kind: Kind, name: str) -> bool:
        matches: Matches = getattr(self, SPELLED[kind].family)
        return matches(name)


@dataclass(frozen=True, slots=True)
class Who:
    """Every condition that is given must hold; none given: everybody."""

    token: str | None = None
    subject: str | None = None
    scope: str | None = None
    claims: Mapping[str, Json] = field(default_factory=dict)

    def includes(self, caller: Caller) -> bool:
        if self.token is not None and caller.id != f"token:{self.token}":
            return False
        if self.subject is not None and caller.claims.get("sub") != self.subject:
            return False
        if self.scope is not None and self.scope not in _scopes(caller):
            return False
        return all(_has(caller.claims.get(key), value) for key, value in self.claims.items())


@dataclass(frozen=True, slots=True)
class Rule:
    """What these callers may use."""

    callers: Who
    patterns: Allowed


class Rules:
    """A view of the catalog for each caller; the same one for callers whom the same rules fit."""

    def __init__(
        self,
        rules: Sequence[Rule],
        narrowed: Mapping[str, Allowed],
        unruled: frozenset[str] = frozenset(),
    ) -> None:
        self._rules = tuple(rules)
        self._unruled = unruled  # callers that are not subject to rules
        self._narrowed = narrowed  # by caller: what its token may use at most
        self._views: dict[tuple[tuple[int, ...], str, str], tuple[Catalog, Catalog]] = {}

    def __call__(self, catalog: Catalog, caller: Caller) -> Catalog:
        limit = self._narrowed.get(caller.id)
        if (not self._rules and limit is None) or caller.id in self._unruled:
            return catalog
        rule_indexes = tuple(
            i for i, rule in enumerate(self._rules) if rule.callers.includes(caller)
        )
        key = (rule_indexes, caller.id if limit is not None else "", catalog.caller)
        cached = self._views.get(key)
        if cached is not None and cached[0] is catalog:
            return cached[1]
        view = catalog.narrowed(self._test(rule_indexes, limit))
        if len(self._views) >= MAX_VIEWS:
            self._views.clear()
        self._views[key] = (catalog, view)
        return view

    def _test(
        self, rule_indexes: tuple[int, ...], limit: Allowed | None
    ) -> Callable[[Kind, str], bool]:
        patterns = [self._rules[i].patterns for i in rule_indexes]
        without_rules = not self._rules

        def allows(kind: Kind, name: str) -> bool:
            if limit is not None and not limit.allows(kind, name):
                return False
            return without_rules or any(part.allows(kind, name) for part in patterns)

        return allows


def _scopes(caller: Caller) -> frozenset[str]:
    value = caller.claims.get("scope", caller.claims.get("scp"))
    if isinstance(value, str):
        return frozenset(value.split())
    return frozenset(value) if isinstance(value, list) else frozenset()


def _has(claim: Json, value: Json) -> bool:
    """The claim itself, or one of a list of them."""
    return bool(claim == value or (isinstance(claim, list) and value in claim))


def read_rules(entries: Sequence[JsonObject], place: str) -> tuple[Rule, ...]:
    """Raises ConfigError."""
    return tuple(_read(entry, place, f"/rules/{i}") for i, entry in enumerate(entries))


def _read(entry: JsonObject, place: str, pointer: str) -> Rule:
    for key in entry:
        if key not in ("for", *FAMILIES):
            raise ConfigError.at(place, f"unknown key {key!r}", f"{pointer}/{key}")
    patterns = [_patterns(entry, kind, place, pointer) for kind in FAMILIES]
    return Rule(read_who(entry.get("for", {}), place, f"{pointer}/for"), Allowed(*patterns))


def _patterns(entry: JsonObject, kind: str, place: str, pointer: str) -> Matches:
    value = entry.get(kind, [])
    if not isinstance(value, list) or not all(isinstance(pattern, str) for pattern in value):
        raise ConfigError.at(place, "expected a list of patterns", f"{pointer}/{kind}")
    return globs(value)


def read_who(value: Json, place: str, pointer: str) -> Who:
    if value == "everyone":
        return Who()
    if not isinstance(value, dict) or not value.keys() <= _CONDITIONS:
        why = f'expected "everyone" or an object with {", ".join(sorted(_CONDITIONS))}'
        raise ConfigError.at(place, why, pointer)
    claims = value.get("claim", {})
    texts = {key: value[key] for key in ("token", "subject", "scope") if key in value}
    if not isinstance(claims, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ConfigError.at(place, "expected texts, and an object of claims", pointer)
    return Who(**texts, claims=claims)
