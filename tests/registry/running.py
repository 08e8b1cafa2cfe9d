"""Runs a case against the handler in this process; the upstreams are targets that answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson

from tests.registry.case import Case
from tests.virtual.seams import Keeps
from toolyard.catalog.entries import Entries, Origin, Tool
from toolyard.catalog.keeper import Keeper
from toolyard.catalog.listing import Listing
from toolyard.errors import ProtocolError, ToolError
from toolyard.methods.offer import Offer
from toolyard.methods.table import methods_of
from toolyard.protocol.call import Call, Channel, Encoded, JsonObject, Result, Target
from toolyard.protocol.revisions import LATEST
from toolyard.sources.registry.chain.overlay import lay_over
from toolyard.sources.registry.format.load import read_registry
from toolyard.sources.registry.format.model import Registry

FILE = "registry.json"


class Underlying:
    """A Target that notes who was called with what, and answers as its description says."""

    def __init__(self, heard: list[Any], owner: str, tool: JsonObject) -> None:
        self._heard, self._owner, self._tool = heard, owner, tool

    async def call(self, arguments: JsonObject, call: Call, channel: Channel) -> Result:
        self._heard.append((self._owner, self._tool["name"], arguments))
        if "result" not in self._tool:
            return {"content": [{"type": "text", "text": json.dumps(arguments)}]}
        result: Result = self._tool["result"]
        return result


class Upstreams:
    """UpstreamTargets over the described upstreams."""

    def __init__(self, case: Case, heard: list[Any]) -> None:
        self._case, self._heard = case, heard

    def tool(self, server: str, name: str) -> Target:
        described = self._case.upstreams.get(server, [])
        tool = next((one for one in described if one["name"] == name), {"name": name})
        return Underlying(self._heard, server, tool)

    def prompt(self, server: str, name: str) -> Target:
        return Underlying(self._heard, server, {"name": f"prompt {name}"})

    def resource(self, server: str) -> Target:
        return Underlying(self._heard, server, {"name": "resource"})

    def completion(self, server: str) -> Target:
        return Underlying(self._heard, server, {"name": "completion"})


class Once:
    """A Source that yields the same entries always."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    def read(self) -> Entries:
        return self._entries

    async def settle(self) -> None:
        pass

    async def watch(self, changed: Callable[[], None]) -> None:
        pass


class Running:
    def __init__(self, case: Case) -> None:
        self.heard: list[Any] = []
        self.registry = load(case)
        listings = {
            server: Listing(server, tuple(map(as_listed, tools)))
            for server, tools in case.upstreams.items()
        }
        connect = Upstreams(case, self.heard)
        self.entries = lay_over(self.registry, self._scripts(case), listings, connect)
        self._methods = methods_of(Offer(Keeper([Once(self.entries)]), {}))

    def _scripts(self, case: Case) -> Entries:
        origin = Origin("project", "", "tools")
        tools = [
            Tool(
                one["name"],
                as_listed(one),
                Underlying(self.heard, "script", one),
                origin,
                extra=one.get("extra", {}),
            )
            for one in case.scripts
        ]
        return Entries(tools=tuple(tools))

    async def list(self) -> dict[str, JsonObject]:
        listed = await self._answer(Call("tools/list", {}, LATEST))
        return {tool["name"]: tool for tool in listed["tools"]}

    async def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        """The result; an error that the transport would make a result is one here too."""
        params = {"name": tool, "arguments": arguments}
        try:
            return await self._answer(Call("tools/call", params, LATEST))
        except ToolError as error:
            return {"content": [{"type": "text", "text": error.message}], "isError": True}
        except ProtocolError as error:
            return {"error": error.code}

    async def _answer(self, call: Call) -> JsonObject:
        result = await self._methods(call, Keeps())
        if isinstance(result, Encoded):
            decoded: JsonObject = orjson.loads(result.body)
            return decoded
        return result


def load(case: Case) -> Registry:
    stated = case.registry
    data = stated.encode() if isinstance(stated, str) else json.dumps(stated).encode()
    return read_registry(data, FILE, case.environ, [script["name"] for script in case.scripts])


def as_listed(tool: JsonObject) -> JsonObject:
    return {key: value for key, value in tool.items() if key not in ("result", "extra")}
