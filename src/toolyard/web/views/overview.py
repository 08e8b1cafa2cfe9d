"""How everything is doing: the project and the upstreams, each with its state and its cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from toolyard import __version__
from toolyard.catalog.snapshot import Catalog
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import KINDS
from toolyard.protocol.revisions import ALL
from toolyard.upstreams.health import Health
from toolyard.web.recording.traffic import Traffic
from toolyard.web.views.catalog import CatalogListing
from toolyard.web.views.owners import PROJECT, REGISTRY, owner_of
from toolyard.web.window import Window


@dataclass(slots=True)
class Sum:
    """What one server comes to."""

    tools: int = 0
    tokens: int = 0
    calls: int = 0
    errors: int = 0
    seconds: list[float] = field(default_factory=list)


def overview(window: Window, listed: CatalogListing, uptime: float) -> JsonObject:
    catalog = listed.catalog
    sums = _sums(listed, window.traffic)
    tools = sum(listed.tokens.values())
    return {
        "server": window.identity.info,
        "instructions": window.identity.instructions,
        "toolyard": __version__,
        "uptime": round(uptime, 1),
        "place": asdict(window.place),
        "revisions": sorted(ALL),
        "digest": listed.digest,
        "counts": _counts(catalog),
        "tokens": {"tools": tools, "others": listed.others},
        "calls": sum(one.calls for one in sums.values()),
        "errors": sum(one.errors for one in sums.values()),
        "servers": _servers(window, catalog, sums),
        "warnings": list(catalog.warnings),
        "broken": dict(catalog.broken),
        "traffic": window.traffic is not None,
        "readOnly": window.read_only,
    }


def _counts(catalog: Catalog) -> JsonObject:
    kinds = (*KINDS, "completions")
    return {kind: len(getattr(catalog, kind)) for kind in kinds}


def _sums(listed: CatalogListing, traffic: Traffic | None) -> dict[str, Sum]:
    sums: dict[str, Sum] = defaultdict(Sum)
    for tool in listed.catalog.tools.values():
        one = sums[owner_of(tool, listed.catalog.tools)]
        one.tools += 1
        one.tokens += listed.tokens[tool.name]
        if traffic is not None:
            count = traffic.counts.get(("tools/call", tool.name))
            one.calls += count.calls if count else 0
            one.errors += count.errors if count else 0
    for record in traffic.newest_first() if traffic else ():
        for hop in record.hops:
            sums[hop.to].seconds.append(hop.ended - hop.began)
    return sums


def _servers(window: Window, catalog: Catalog, sums: dict[str, Sum]) -> list[JsonObject]:
    waiting = _without_login(window)
    rows = [_upstream(one, sums[one.server], waiting) for one in window.health()]
    if window.place.project is not None:
        rows.insert(0, _project(window.place.project, catalog, sums[PROJECT]))
    if REGISTRY in sums:
        rows.append(_registry(window.place.registries, sums[REGISTRY]))
    known = {row["name"] for row in rows}
    return rows + [_behind(name, sums[name]) for name in sorted(sums.keys() - known)]


def _behind(name: str, total: Sum) -> JsonObject:
    """A server of another gateway: only that one knows how it is doing."""
    known: JsonObject = {"name": name, "kind": "behind", "state": "behind the gateway"}
    return {**known, "reason": None, "transport": None, "info": None, **_totals(total)}


def _registry(files: tuple[str, ...], total: Sum) -> JsonObject:
    """Tools that the file composes of others, and those that it names in vain."""
    known: JsonObject = {"name": REGISTRY, "kind": "registry", "state": "ready", "reason": None}
    return {**known, "transport": None, "info": ", ".join(files) or None, **_totals(total)}


def _project(path: str, catalog: Catalog, total: Sum) -> JsonObject:
    broken = "; ".join(catalog.broken.values())
    return {
        "name": PROJECT,
        "kind": "project",
        "state": "failed" if broken else "ready",
        "reason": broken or None,
        "transport": "scripts",
        "info": path,
        **_totals(total),
    }


# The words of the page for the states of an upstream.
_STATES = {"up": "ready", "down": "failed", "idle": "idle"}


def _without_login(window: Window) -> frozenset[str]:
    """The servers that nobody has logged in at."""
    states = window.logins.states()
    return frozenset(one["server"] for one in states if not one["loggedIn"])


def _upstream(health: Health, total: Sum, waiting: frozenset[str]) -> JsonObject:
    state = _STATES.get(health.state, health.state)
    if health.server in waiting and state in ("idle", "failed"):
        state = "needs login"
    revision = ALL.get(health.revision or "")
    seen: JsonObject = {
        "name": health.server,
        "kind": "upstream",
        "state": state,
        "reason": health.reason,
        "transport": health.transport,
        "revision": health.revision,
        "era": None if revision is None else "modern" if revision.modern else "handshake",
        "info": health.info,
        "connections": health.connections,
        "restarts": health.restarts,
        "lastError": health.last_error,
        "stderr": health.stderr[-4000:],
        "retryIn": health.retry_in,
        **_totals(total),
    }
    seen["calls"] = max(health.calls, total.calls)
    return seen


def _totals(total: Sum) -> JsonObject:
    return {
        "tools": total.tools,
        "tokens": total.tokens,
        "calls": total.calls,
        "errors": total.errors,
        "p50": _percentile(total.seconds, 0.5),
        "p95": _percentile(total.seconds, 0.95),
    }


def _percentile(seconds: Iterable[float], part: float) -> float | None:
    """In milliseconds."""
    ordered = sorted(seconds)
    if not ordered:
        return None
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000, 2)
