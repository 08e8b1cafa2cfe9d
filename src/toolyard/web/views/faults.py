"""Who failed when a call did: we before the tool, the way there, the tool, or we after it."""

from __future__ import annotations

from collections.abc import Sequence

from toolyard.protocol.call import Json
from toolyard.web.recording.hops import Hop


def fault_in(result: Json, hops: Sequence[Hop]) -> str | None:
    """`refused`, `unreached`, `tool` or `unusable`; None where the result is no error."""
    if not _is_error(result):
        return None
    if not hops:
        return "refused"
    last_hop = hops[-1]
    if last_hop.unreached:
        return "unreached"
    return "tool" if last_hop.error is not None or _is_error(last_hop.result) else "unusable"


def _is_error(result: Json) -> bool:
    return isinstance(result, dict) and result.get("isError") is True
