"""Which traces are kept, as `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` say. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

# Is the trace with this id kept, that begins here? None: all are.
Roots: TypeAlias = Callable[[str], bool] | None
DEFAULT = "parentbased_always_on"
_BITS = 64


class Sampler(NamedTuple):
    roots: Roots
    follows_parents: bool  # a trace that began elsewhere is kept if it is kept there

    def keeps(self, trace_id: str) -> bool:
        return self.roots is None or self.roots(trace_id)


def sampler_of(environ: Mapping[str, str]) -> Sampler:
    """Raises ValueError for a name or a ratio that there is not."""
    name = environ.get("OTEL_TRACES_SAMPLER") or DEFAULT
    plain_name = name.removeprefix("parentbased_")
    if plain_name not in _ROOTS:
        raise ValueError(f"OTEL_TRACES_SAMPLER: no sampler named {name!r}")
    roots = _ROOTS[plain_name](environ.get("OTEL_TRACES_SAMPLER_ARG") or "1")
    return Sampler(roots, follows_parents=plain_name != name)


def _share(text: str) -> Callable[[str], bool]:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ValueError(f"OTEL_TRACES_SAMPLER_ARG: expected 0 to 1, not {text!r}")
    bound = round(share * (1 << _BITS))
    return lambda trace_id: int(trace_id[-_BITS // 4 :], 16) < bound


_ROOTS: Mapping[str, Callable[[str], Roots]] = {
    "always_on": lambda _argument: None,
    "always_off": lambda _argument: lambda _trace_id: False,
    "traceidratio": _share,
}
