"""Which method means what: the table, and the handler made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolyard.errors import METHOD_NOT_FOUND, ProtocolError
from toolyard.methods.completions import CompletionMethods
from toolyard.methods.lists import list_method
from toolyard.methods.offer import Offer
from toolyard.methods.prompts import PromptMethods
from toolyard.methods.resources import ResourceMethods
from toolyard.methods.subscriptions import SubscriptionMethods
from toolyard.methods.tools import Permit, ToolMethods
from toolyard.protocol.call import Call, Channel, Handler, Result


@dataclass(frozen=True, slots=True)
class Methods:
    """Answers every call by its method; made once, by the app."""

    table: Mapping[str, Handler]
    subscriptions: SubscriptionMethods

    async def __call__(self, call: Call, channel: Channel) -> Result:
        method = self.table.get(call.method)
        if method is None:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", call.method)
        return await method(call, channel)

    async def close(self) -> None:
        await self.subscriptions.close()


def methods_of(offer: Offer, permit: Permit | None = None, *, minimal: bool = False) -> Methods:
    """`minimal`: lifecycle, ping and logging only, which are the transports' own."""
    subscriptions = SubscriptionMethods(offer)
    if minimal:
        return Methods({"notifications/initialized": subscriptions.initialized}, subscriptions)
    table: dict[str, Handler] = {
        "tools/list": list_method(offer, "tools"),
        "tools/call": ToolMethods(offer, permit).call,
        "resources/list": list_method(offer, "resources"),
        "resources/templates/list": list_method(offer, "templates"),
        "resources/read": ResourceMethods(offer).read,
        "resources/subscribe": subscriptions.subscribe,
        "resources/unsubscribe": subscriptions.unsubscribe,
        "prompts/list": list_method(offer, "prompts"),
        "prompts/get": PromptMethods(offer).get,
        "completion/complete": CompletionMethods(offer).complete,
        "subscriptions/listen": subscriptions.listen,
        "notifications/initialized": subscriptions.initialized,
    }
    return Methods(table, subscriptions)
