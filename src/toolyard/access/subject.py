"""What a call is about: one kind and name for every method. Pure."""

from __future__ import annotations

from typing import Literal, NamedTuple

from toolyard.catalog.uris import plain
from toolyard.protocol.call import Call, Json

SubjectKind = Literal["tools", "resources", "prompts", "other"]


class Subject(NamedTuple):
    kind: SubjectKind
    name: str

    @property
    def spellings(self) -> tuple[str, ...]:
        """As it was sent, and the one spelling that all others of a URI come to."""
        return (self.name, plain(self.name)) if self.kind == "resources" else (self.name,)


_BY_METHOD: dict[str, tuple[SubjectKind, tuple[str, ...]]] = {
    "tools/call": ("tools", ("name",)),
    "prompts/get": ("prompts", ("name",)),
    "resources/read": ("resources", ("uri", "name")),
    "resources/subscribe": ("resources", ("uri", "name")),
    "resources/unsubscribe": ("resources", ("uri", "name")),
}
_BY_REF: dict[str, tuple[SubjectKind, str]] = {
    "ref/prompt": ("prompts", "name"),
    "ref/resource": ("resources", "uri"),
}


def subject_of(call: Call) -> Subject:
    if call.method == "completion/complete":
        return _completed(call.params.get("ref"))
    kind, keys = _BY_METHOD.get(call.method, ("other", ()))
    for key in keys:
        value = call.params.get(key)
        if isinstance(value, str):
            return Subject(kind, value)
    return Subject(kind, "")


def _completed(ref: Json) -> Subject:
    if not isinstance(ref, dict):
        return Subject("other", "")
    kind, key = _BY_REF.get(str(ref.get("type")), ("other", ""))
    return Subject(kind, str(ref.get(key, "")))
