"""How everything is doing: the project and the upstreams, each with its state and its cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from toolyard import __version__
from toolyard.catalog.snapshot import Catalog
from toolyard.context.owners import PROJECT, REGISTRY
from toolyard.protocol.call import JsonObject
from toolyard.protocol.kinds import KINDS
from toolyard.protocol.revisions import ALL
from toolyard.upstreams.health import Health
from toolyard.web.recording.traffic import Traffic
from toolyard.web.views.catalog import CatalogListing
from toolyard.web.window import Window


@dataclass(slots=True)
class Sum:
    """The totals of one server."""

    tools: int = 0
    tokens: int = 0
    calls: int = 0
    errors: int = 0
    seconds: list[float] = field(default_factory=list)


def overview(window: Window, listing: CatalogListing, uptime: float) -> JsonObject:
    catalog = listing.catalog
    sums = _sums(listing, window.traffic)
    tools = sum(listing.tokens.values())
    return {
        "server": window.identity.info,
        "instructions": window.identity.instructions,
        "toolyard": __version__,
        "uptime": round(uptime, 1),
        "place": asdict(window.place),
        "revisions": sorted(ALL),
        "digest": listing.digest,
        "counts": _counts(catalog),
        "tokens": {"tools": tools, "others": listing.other_tokens},
        "calls": sum(total.calls for total in sums.values()),
        "errors": sum(total.errors for total in sums.values()),
        "servers": _servers(window, catalog, sums),
        "store": window.store(),
        "warnings": list(catalog.warnings),
        "broken": dict(catalog.broken),
        "traffic": window.traffic is not None,
        "readOnly": window.read_only,
    }


def _counts(catalog: Catalog) -> JsonObject:
    kinds = (*KINDS, "completions")
    return {kind: len(getattr(catalog, kind)) for kind in kinds}


def _sums(listing: CatalogListing, traffic: Traffic | None) -> dict[str, Sum]:
    sums: dict[str, Sum] = defaultdict(Sum)
    for name, owner in listing.owners.items():
        total = sums[owner]
        total.tools += 1
        total.tokens += listing.tokens[name]
    for (method, name), count in traffic.counts.items() if traffic else ():
        if method == "tools/call" and name in listing.owners:
            sums[listing.owners[name]].calls += count.calls
            sums[listing.owners[name]].errors += count.errors
    for record in traffic.newest_first() if traffic else ():
        for hop in record.hops:
            sums[hop.to].seconds.append(hop.ended - hop.began)
    return sums


def _servers(window: Window, catalog: Catalog, sums: dict[str, Sum]) -> list[JsonObject]:
    logged_out = _without_login(window)
    rows = [_upstream(health, sums[health.server], logged_out) for health in window.health()]
    if window.place.project is not None:
        rows.insert(0, _project(window.place.project, catalog, sums[PROJECT]))
    if REGISTRY in sums:
        rows.append(_registry(window.place.registries, sums[REGISTRY]))
    names = {row["name"] for row in rows}
    return rows + [_behind(name, sums[name]) for name in sorted(sums.keys() - names)]


def _behind(name: str, total: Sum) -> JsonObject:
    """A server behind another gateway, which alone knows how it is doing."""
    head: JsonObject = {"name": name, "kind": "behind", "state": "behind the gateway"}
    return {**head, "reason": None, "transport": None, "info": None, **_totals(total)}


def _registry(files: tuple[str, ...], total: Sum) -> JsonObject:
    """Tools that the file composes from others, and those whose source it does not find."""
    head: JsonObject = {"name": REGISTRY, "kind": "registry", "state": "ready", "reason": None}
    return {**head, "transport": None, "info": ", ".join(files) or None, **_totals(total)}


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


# The page's words for the states of an upstream.
_STATES = {"up": "ready", "down": "failed", "idle": "idle"}


def _without_login(window: Window) -> frozenset[str]:
    """The servers that nobody has logged in at."""
    states = window.logins.states()
    return frozenset(state["server"] for state in states if not state["loggedIn"])


def _upstream(health: Health, total: Sum, logged_out: frozenset[str]) -> JsonObject:
    state = _STATES.get(health.state, health.state)
    if health.server in logged_out and state in ("idle", "failed"):
        state = "needs login"
    revision = ALL.get(health.revision or "")
    row: JsonObject = {
        "name": health.server,
        "kind": "upstream",
        "state": state,
        "description": health.description,
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
    row["calls"] = max(health.calls, total.calls)
    return row


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
    durations = sorted(seconds)
    if not durations:
        return None
    return round(durations[min(len(durations) - 1, int(len(durations) * part))] * 1000, 2)
