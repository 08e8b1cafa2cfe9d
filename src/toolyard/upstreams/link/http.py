"""A link over Streamable HTTP, in both eras: a POST a message, and a stream for the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing

from toolyard.http.events import ServerSentEvent
from toolyard.http.fetching.client import ClientResponse
from toolyard.http.fetching.connection import Broken
from toolyard.processes.pacing import Pace
from toolyard.protocol.call import JsonObject
from toolyard.protocol.codec import dumps
from toolyard.protocol.eras.headers import MCP_NAME, encode_value
from toolyard.protocol.kinds import LISTS
from toolyard.protocol.revisions import HANDSHAKE
from toolyard.telemetry import logger
from toolyard.upstreams.link.link import Link, LinkError, Lost, Outgoing, Refusal, SessionGone
from toolyard.upstreams.link.post import Requester, refusal
from toolyard.upstreams.link.streams import ACCEPT_EVENTS, events_of, messages_from, messages_of

log = logger("upstreams")
_JSON = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}
MOST_HEADERS = 64
DEFAULT_RETRY, LEAST_RETRY, MOST_RETRY = 1.0, 0.1, 30.0
MAX_FRUITLESS = 5
CLOSE_TIMEOUT = 2.0
# Methods that change nothing: sent again when an idle connection died under them.
REPEATABLE = LISTS | {"server/discover", "ping"}


class Resumption:
    """Where an event stream can be taken up again, and after how long."""

    __slots__ = ("last_id", "retry")

    def __init__(self) -> None:
        self.last_id: str | None = None
        self.retry = DEFAULT_RETRY

    def note(self, event: ServerSentEvent) -> None:
        if event.id is not None:
            self.last_id = event.id
        if event.retry is not None:
            self.retry = min(max(event.retry, LEAST_RETRY), MOST_RETRY)


class StreamableLink(Link):
    """A POST for each message; the answer is its body, or comes on an event stream in it."""

    transport = "streamablehttp"

    def __init__(self, requester: Requester, pace: Pace) -> None:
        super().__init__(pace)
        self._http = requester
        self.address = requester.url.host
        self._session_id: str | None = None
        # By what is in them: most requests differ in their body alone.
        self._headers: dict[tuple[str | None, ...], dict[str, str]] = {}
        self._listening: asyncio.Task[None] | None = None

    async def _open(self) -> None:
        """Nothing to do: the first message opens the connection."""

    # -- requests ----------------------------------------------------------------------

    async def exchange(self, out: Outgoing) -> JsonObject:
        name = out.params.get(MCP_NAME[out.method]) if out.method in MCP_NAME else None
        headers = self._request_headers(out, name if isinstance(name, str) else None)
        response = await self._http.send(
            "POST", headers, out.encode(), repeatable=out.method in REPEATABLE, lines=out.lines
        )
        try:
            if response.status != 200:
                raise await self._refused(response, out)
            if out.method == "initialize":
                self._session_id = response.headers.get("mcp-session-id")
            if response.content_type == ACCEPT_EVENTS:
                return await self._from_events(response, out)
            body = response.at_hand(self._http.max_message)
            return self._own(await self._body(response) if body is None else body, out)
        finally:
            # Cut off in the middle, this is how a modern call is cancelled.
            response.close()

    async def _body(self, response: ClientResponse) -> bytes:
        try:
            return await response.read(self._http.max_message)
        except Broken as error:
            raise Lost(str(error)) from None

    def _own(self, body: bytes | bytearray, out: Outgoing) -> JsonObject:
        """The answer to our request; other messages that came with it are passed on."""
        answer = None
        messages = messages_from(body)
        if len(messages) == 1 and "method" not in messages[0] and messages[0].get("id") == out.id:
            return messages[0]
        for message in messages:
            if "method" in message:
                self._hearer.receive(message, out.id)
            elif message.get("id") in (out.id, None):
                answer = message
        if answer is None:
            raise Lost("answered with something that is not an answer")
        return answer

    async def _refused(self, response: ClientResponse, out: Outgoing) -> LinkError:
        if 200 <= response.status < 300:
            return Lost(f"answered HTTP {response.status} without a result")
        error = await refusal(response)
        if out.modern or self._session_id is None or out.method == "initialize":
            return error
        return SessionGone("forgot our session") if _forgot(error) else error

    # -- event streams -----------------------------------------------------------------

    async def _from_events(self, response: ClientResponse, out: Outgoing) -> JsonObject:
        resumption = Resumption()
        answer = await self._search(response, out, resumption)
        if answer is None and response.complete and resumption.last_id is not None:
            self._hearer.on_polling(out.id)
        fruitless = 0
        while answer is None:
            if out.modern or resumption.last_id is None or fruitless > MAX_FRUITLESS:
                raise Lost("closed the stream before the answer")
            before = resumption.last_id
            await asyncio.sleep(resumption.retry)
            answer = await self._resume(out, resumption)
            fruitless = 0 if resumption.last_id != before else fruitless + 1
        return answer

    async def _search(
        self, response: ClientResponse, out: Outgoing, resumption: Resumption
    ) -> JsonObject | None:
        """The answer on this stream, or None where it ends without one."""
        async with aclosing(events_of(response, self._http.max_message)) as events:
            async for event in events:
                resumption.note(event)
                for message in messages_of(event):
                    if "method" in message:
                        self._hearer.receive(message, out.id)
                    elif message.get("id") == out.id:
                        await _finish(response)
                        return message
                await self.pause(len(event.data))
        return None

    async def _resume(self, out: Outgoing, resumption: Resumption) -> JsonObject | None:
        headers = {**self._common(out.version), "Accept": ACCEPT_EVENTS}
        headers["Last-Event-ID"] = str(resumption.last_id)
        try:
            response = await self._http.send("GET", headers)
        except LinkError:
            return None
        try:
            if response.status == 200 and response.content_type == ACCEPT_EVENTS:
                return await self._search(response, out, resumption)
            if response.status < 500:
                raise Lost(f"does not resume a stream (HTTP {response.status})")
            return None
        finally:
            response.close()

    def listen(self, version: str) -> None:
        self._listening = asyncio.get_running_loop().create_task(self._listen(version))

    async def _listen(self, version: str) -> None:
        """Hear what the upstream says outside of any request, as long as it lets us."""
        resumption, fruitless = Resumption(), 0
        while fruitless <= MAX_FRUITLESS:
            try:
                heard = await self._hear(version, resumption)
            except SessionGone as error:
                self.lose(error)
                return
            except Refusal:
                return
            except LinkError as error:
                log.debug("the stream of unasked messages failed: %s", error)
                heard = False
            fruitless = 0 if heard else fruitless + 1
            await asyncio.sleep(min(resumption.retry * 2**fruitless, MOST_RETRY))

    async def _hear(self, version: str, resumption: Resumption) -> bool:
        headers = {**self._common(version), "Accept": ACCEPT_EVENTS}
        if resumption.last_id is not None:
            headers["Last-Event-ID"] = resumption.last_id
        response = await self._http.send("GET", headers)
        heard = False
        try:
            if response.status == 404 and self._session_id is not None:
                raise SessionGone("forgot our session")
            if response.status != 200 or response.content_type != ACCEPT_EVENTS:
                raise Refusal(response.status, "")
            async with aclosing(events_of(response, self._http.max_message)) as events:
                async for event in events:
                    heard = True
                    resumption.note(event)
                    for message in messages_of(event):
                        if "method" in message:
                            self._hearer.receive(message, None)
                    await self.pause(len(event.data))
        finally:
            response.close()
        return heard

    # -- notifications and answers -----------------------------------------------------

    async def send(self, message: JsonObject, version: str | None) -> None:
        headers = {**self._common(version), **_JSON}
        response = await self._http.send("POST", headers, dumps(message))
        try:
            if response.status >= 300:
                raise await refusal(response)
        finally:
            response.close()

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        session_id, self._session_id = self._session_id, None
        if session_id is None or self.lost is not None:
            return
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                response = await self._http.send("DELETE", {"Mcp-Session-Id": session_id})
                response.close()
        except (LinkError, TimeoutError):
            pass  # the session expires by itself

    def _request_headers(self, out: Outgoing, name: str | None) -> Mapping[str, str]:
        """Modern requests can be routed by them, without being read."""
        key = (out.method, name, out.version, self._session_id)
        headers = self._headers.get(key)
        if headers is None:
            headers = {**self._common(out.version), **_routing(out, name), **_JSON}
            if len(self._headers) >= MOST_HEADERS:
                self._headers.clear()
            self._headers[key] = headers
        return {**headers, **out.headers} if out.headers else headers

    def _common(self, version: str | None) -> dict[str, str]:
        headers = {}
        if self._session_id is not None:
            headers["Mcp-Session-Id"] = self._session_id
        older = HANDSHAKE.get(version or "")
        if version is not None and (older is None or older.version_header):
            headers["MCP-Protocol-Version"] = version
        return headers


def _routing(out: Outgoing, name: str | None) -> dict[str, str]:
    if not out.modern:
        return {}
    name_header = {} if name is None else {"Mcp-Name": encode_value(name)}
    return {"Mcp-Method": out.method, **name_header}


def _forgot(refusal: Refusal) -> bool:
    """Does it say that it does not know our session? Some do so with 400 in place of 404."""
    if refusal.status == 404:
        return True
    message = refusal.error.get("message") if refusal.error is not None else None
    return refusal.status == 400 and isinstance(message, str) and "session" in message.lower()


async def _finish(response: ClientResponse) -> None:
    """The answer should be the end of its stream; waiting for that saves the connection."""
    if response.complete:
        return
    try:
        async with asyncio.timeout(0.05):
            while await response.chunk():
                pass
    except (Broken, TimeoutError):
        pass
