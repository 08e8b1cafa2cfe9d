"""Resources of one upstream that clients of ours want to hear of."""

from __future__ import annotations

from collections.abc import Callable

from toolyard.protocol.call import Call, Channel
from toolyard.upstreams.background import Background
from toolyard.upstreams.connections import Connections, client_of


class ResourceWatches:
    """Subscribes to resources, each over the connection that the client's calls take."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._removals = Background()

    async def subscribe(
        self, uri: str, call: Call, channel: Channel, changed: Callable[[], None]
    ) -> Callable[[], None]:
        """Calls `changed` whenever the resource may have changed; returns what ends that."""
        loan = await self._connections.to_watch(client_of(call, channel.session))
        watch, is_subscribed = loan.watch, False
        try:
            await watch.add(uri, changed)
            is_subscribed = True
        finally:
            if not is_subscribed:
                await watch.remove(uri, changed)
            loan.release(is_subscribed)

        def unsubscribe() -> None:
            self._removals.start(watch.remove(uri, changed))

        return unsubscribe

    async def close(self) -> None:
        await self._removals.cancel()
