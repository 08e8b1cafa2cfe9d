"""Who sees and calls what. What is not allowed is not there: in no list and for no method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from toolyard.access.globs import Matches, globs
from toolyard.catalog.snapshot import Catalog
from toolyard.configuration.check import Findings, check
from toolyard.configuration.objects import shape
from toolyard.protocol.call import Caller, Json, JsonObject
from toolyard.protocol.kinds import FAMILIES, SPELLED, Kind

MAX_VIEWS = 256


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


def read_rules(
    entries: Sequence[JsonObject], place: str, pointer: str = "/rules"
) -> tuple[Rule, ...]:
    """Raises ConfigError with every problem."""
    findings = Findings(place)
    check(list(entries), shape("access", "/$defs/rules"), findings, pointer)
    findings.close()
    return tuple(map(_read, entries))


def _read(entry: JsonObject) -> Rule:
    patterns = (globs(entry.get(kind, ())) for kind in FAMILIES)
    return Rule(read_who(entry.get("for", {})), Allowed(*patterns))


def read_who(value: Json) -> Who:
    """The callers that a rule or a limit is about, once it has been checked."""
    if value == "everyone":
        return Who()
    conditions = {key: value[key] for key in ("token", "subject", "scope") if key in value}
    return Who(**conditions, claims=value.get("claim", {}))
