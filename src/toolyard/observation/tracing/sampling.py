"""Which traces are kept, as `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` say. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

# Is the parent kept (None: there is none), and the id of the trace.
Sampler: TypeAlias = Callable[[bool | None, int], bool]
DEFAULT = "parentbased_always_on"
_BITS = (1 << 64) - 1


def sampler_of(environ: Mapping[str, str]) -> Sampler:
    """Raises ValueError for a name or a ratio that there is not."""
    name = environ.get("OTEL_TRACES_SAMPLER") or DEFAULT
    plain_name = name.removeprefix("parentbased_")
    if plain_name not in _ROOTS:
        raise ValueError(f"OTEL_TRACES_SAMPLER: no sampler named {name!r}")
    root = _ROOTS[plain_name](environ.get("OTEL_TRACES_SAMPLER_ARG") or "1")
    if plain_name == name:
        return lambda _parent, trace_id: root(trace_id)
    if name == DEFAULT:
        return lambda parent, _trace_id: parent is None or parent
    return lambda parent, trace_id: root(trace_id) if parent is None else parent


def _share(text: str) -> Callable[[int], bool]:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ValueError(f"OTEL_TRACES_SAMPLER_ARG: expected 0 to 1, not {text!r}")
    bound = round(share * (_BITS + 1))
    return lambda trace_id: trace_id & _BITS < bound


_ROOTS: Mapping[str, Callable[[str], Callable[[int], bool]]] = {
    "always_on": lambda _argument: lambda _trace_id: True,
    "always_off": lambda _argument: lambda _trace_id: False,
    "traceidratio": _share,
}
