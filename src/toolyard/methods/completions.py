"""completion/complete: by whatever completes the arguments of a prompt or a resource."""

from __future__ import annotations

from dataclasses import dataclass

from toolyard.catalog.entries import Completion
from toolyard.catalog.snapshot import Catalog
from toolyard.errors import INVALID_PARAMS, ProtocolError, shown
from toolyard.methods.offer import Offer
from toolyard.protocol.call import Call, Channel, Json, Result
from toolyard.protocol.kinds import REFERRED, SPELLED

NOTHING: Result = {"completion": {"values": [], "total": 0, "hasMore": False}}


@dataclass(frozen=True, slots=True)
class CompletionMethods:
    offer: Offer

    async def complete(self, call: Call, channel: Channel) -> Result:
        ref = _ref(call.params.get("ref"))
        _check_argument(call.params.get("argument"))
        catalog = await self.offer.having(lambda catalog: _is_known(catalog, ref), call, channel)
        completion = _find(catalog, ref)
        if completion is None:
            return NOTHING
        return await completion.target.call(call.params, call, channel)


def _ref(ref: Json) -> str:
    if ref is None:
        raise ProtocolError(INVALID_PARAMS, "Completion ref is required")
    kind = ref.get("type") if isinstance(ref, dict) else None
    family = REFERRED.get(kind) if isinstance(kind, str) else None
    value = ref.get(SPELLED[family].named_by) if family else None
    if not isinstance(value, str) or not value:
        raise ProtocolError(INVALID_PARAMS, "Completion ref is invalid")
    return value


def _check_argument(argument: Json) -> None:
    if not isinstance(argument, dict) or not isinstance(argument.get("name"), str):
        raise ProtocolError(INVALID_PARAMS, "Completion argument name is required")
    if not isinstance(argument.get("value"), str):
        raise ProtocolError(INVALID_PARAMS, "Completion argument value must be a string")


def _find(catalog: Catalog, ref: str) -> Completion | None:
    """By the ref itself, or by the name of the resource it is the URI of."""
    if ref in catalog.completions:
        return catalog.completions[ref]
    resource = catalog.find_resource(ref)
    if resource is not None and resource[0].name in catalog.completions:
        return catalog.completions[resource[0].name]
    if not _is_known(catalog, ref):
        raise ProtocolError(INVALID_PARAMS, "Completion not found", {"ref": shown(ref)})
    return None


def _is_known(catalog: Catalog, ref: str) -> bool:
    if ref in catalog.completions or ref in catalog.prompts or ref in catalog.templates:
        return True
    return catalog.find_resource(ref) is not None
