"""W3C trace context: where a request comes from, as its sender says it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from toolyard.protocol.call import Json

TRACEPARENT, TRACESTATE, BAGGAGE = "traceparent", "tracestate", "baggage"
# Longer ones need not be passed on, says the specification.
LONGEST = {TRACESTATE: 512, BAGGAGE: 8192}
_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?\Z")
_PRINTABLE = re.compile(r"[\x20-\x7e]*\Z")


class RemoteParent(NamedTuple):
    """The span of whoever sent the request."""

    trace_id: str  # ids are hexadecimal, as in `traceparent`
    span_id: str
    is_sampled: bool
    state: str = ""


class Arrival(NamedTuple):
    """All that a request says of its trace."""

    parent: RemoteParent | None = None
    baggage: str = ""


NOWHERE = Arrival()


def arrival(meta: Mapping[str, Json], headers: Mapping[str, str] | None) -> Arrival:
    """From `_meta`, which whoever made the call wrote; else from the headers of its transport."""
    in_headers = headers is not None and (TRACEPARENT in headers or BAGGAGE in headers)
    if not in_headers and TRACEPARENT not in meta and BAGGAGE not in meta:
        return NOWHERE  # as most clients do
    fields: Mapping[str, Json] | None = None
    if TRACEPARENT in meta:
        fields = meta
    elif headers is not None and TRACEPARENT in headers:
        fields = headers
    baggage = _text(meta, BAGGAGE) or (_text(headers, BAGGAGE) if headers is not None else "")
    if fields is None:
        return Arrival(None, baggage) if baggage else NOWHERE
    return Arrival(remote_parent(fields[TRACEPARENT], _text(fields, TRACESTATE)), baggage)


def remote_parent(value: Json, state: str = "") -> RemoteParent | None:
    """None where it is not valid: then the trace begins with us."""
    match = _TRACEPARENT.match(value) if isinstance(value, str) else None
    if match is None or match[1] == "ff" or (match[1] == "00" and match[5]):
        return None
    if not int(match[2], 16) or not int(match[3], 16):
        return None
    return RemoteParent(match[2], match[3], bool(int(match[4], 16) & 1), state)


def _text(fields: Mapping[str, Json], key: str) -> str:
    """What would not fit into a header is left out: it goes on in one."""
    value = fields.get(key)
    if not isinstance(value, str) or len(value) > LONGEST[key] or not _PRINTABLE.match(value):
        return ""
    return value
