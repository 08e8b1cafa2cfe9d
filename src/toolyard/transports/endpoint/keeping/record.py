"""What is written down of a session: enough to go through its beginning once more. Pure.

Never a credential: whoever takes a session over has the one that the live request brings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from toolyard.protocol.call import JsonObject
from toolyard.protocol.jsonrpc import Message, Notification, RpcRequest

INITIALIZED = "notifications/initialized"
SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE = (
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
)
NOTED = frozenset({INITIALIZED, SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE})
# Above the numbers that a process may have given away without writing them down.
LEAP = 1_000_000


@dataclass(slots=True)
class SessionRecord:
    opening: JsonObject  # the parameters of `initialize`
    ready: bool = False
    level: str = ""  # empty: the client has asked for none
    # The URIs it has subscribed to, and what it may call each subscription.
    topics: dict[str, str] = field(default_factory=dict)
    generation: int = 0  # how often it was taken over
    delivered: int = 0  # of the general stream
    general: int = 0  # the last number that was given there

    def note(self, message: Message, result: Mapping[str, object] | None = None) -> bool:
        """Take in what a client has said, and what it was answered; True if that matters."""
        if isinstance(message, Notification):
            matters = message.method == INITIALIZED and not self.ready
            self.ready = self.ready or matters
            return matters
        if not isinstance(message, RpcRequest) or message.method not in NOTED:
            return False
        params = message.params
        if message.method == SET_LEVEL:
            self.level = str(params.get("level", ""))
        elif message.method == SUBSCRIBE:
            self.topics[str(params.get("uri"))] = str((result or {}).get("subscriptionId", ""))
        else:
            uri, ticket = params.get("uri"), params.get("subscriptionId")
            names = {name for name, id in self.topics.items() if name == uri or id == ticket}
            self.topics = {name: id for name, id in self.topics.items() if name not in names}
        return True

    def requests(self) -> list[RpcRequest]:
        """What is to be asked again, after the opening, in the name of the client."""
        level = [(SET_LEVEL, {"level": self.level})] if self.level else []
        topics = [(SUBSCRIBE, {"uri": uri}) for uri in self.topics]
        return [RpcRequest("takeover", method, params) for method, params in (*level, *topics)]

    @property
    def count(self) -> int:
        return self.generation * LEAP

    def encode(self) -> bytes:
        state = (self.opening, self.ready, self.level, self.topics)
        return orjson.dumps((*state, self.generation, self.delivered, self.general))

    @classmethod
    def decode(cls, value: bytes) -> SessionRecord:
        return cls(*orjson.loads(value))
