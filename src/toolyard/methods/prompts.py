"""prompts/get: find the prompt, check its arguments, let its target render it."""

from __future__ import annotations

from dataclasses import dataclass

from toolyard.catalog.entries import Prompt
from toolyard.errors import INVALID_PARAMS, ProtocolError, shown
from toolyard.methods.offer import Offer
from toolyard.protocol.call import Call, Channel, Json, JsonObject, Result


@dataclass(frozen=True, slots=True)
class PromptMethods:
    offer: Offer

    async def get(self, call: Call, channel: Channel) -> Result:
        name = call.params.get("name")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "Prompt name is required")
        catalog = await self.offer.having(lambda catalog: name in catalog.prompts, call, channel)
        prompt = catalog.prompts.get(name)
        if prompt is None:
            raise ProtocolError(INVALID_PARAMS, "Prompt not found", {"name": shown(name)})
        arguments = _arguments(call.params.get("arguments"))
        if prompt.origin.source != "upstream":  # passed through: its server decides
            _require(prompt, arguments)
        return await prompt.target.call(arguments, call, channel)


def _arguments(value: Json) -> JsonObject:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_PARAMS, "Prompt arguments must be an object")
    return value


def _require(prompt: Prompt, arguments: JsonObject) -> None:
    definitions = prompt.definition.get("arguments")
    requirements = (
        (argument.get("name"), argument.get("required")) for argument in _objects(definitions)
    )
    missing = [
        name
        for name, is_required in requirements
        if is_required and isinstance(name, str) and name not in arguments
    ]
    if missing:
        text = f"Prompt '{prompt.name}' needs the argument {', '.join(missing)}"
        raise ProtocolError(INVALID_PARAMS, text, {"missing": missing})


def _objects(value: Json) -> list[JsonObject]:
    """The objects in a list; another server may have sent anything."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
