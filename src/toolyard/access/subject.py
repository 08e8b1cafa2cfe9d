"""What a call is about: one kind and name for every method. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from toolyard.catalog.uris import plain
from toolyard.protocol.call import Call, Json
from toolyard.protocol.kinds import REFERRED, SPELLED, USES, Family

SubjectKind = Family | Literal["other"]


class Subject(NamedTuple):
    """A tool, a prompt or a resource, by its name or URI; or something else."""

    kind: SubjectKind
    name: str

    @property
    def spellings(self) -> tuple[str, ...]:
        """As it was sent, and the one spelling that all others of a URI come to."""
        return (self.name, plain(self.name)) if self.kind == "resources" else (self.name,)


_KIND: Mapping[str, Family] = {
    **USES,
    "resources/subscribe": "resources",
    "resources/unsubscribe": "resources",
}


def subject_of(call: Call) -> Subject:
    if call.method == "completion/complete":
        return _completed(call.params.get("ref"))
    kind = _KIND.get(call.method)
    if kind is None:
        return Subject("other", "")
    name = call.params.get(SPELLED[kind].named_by)
    if not isinstance(name, str) and kind == "resources":
        name = call.params.get("name")  # projects of mcp-bash may ask by name as well
    return Subject(kind, name if isinstance(name, str) else "")


def _completed(ref: Json) -> Subject:
    if not isinstance(ref, dict):
        return Subject("other", "")
    kind = REFERRED.get(str(ref.get("type")))
    if kind is None:
        return Subject("other", "")
    return Subject(kind, str(ref.get(SPELLED[kind].named_by, "")))
