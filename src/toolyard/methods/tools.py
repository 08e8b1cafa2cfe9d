"""tools/call: find the tool, check the arguments, let its target work, check the result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Catalog
from toolyard.errors import INVALID_PARAMS, MISSING_CAPABILITY, ProtocolError, ToolError, shown
from toolyard.methods.offer import Offer
from toolyard.methods.results import HAS_LIMITS, Results
from toolyard.methods.views import OUR_NAMES, refuse_detour, unknown
from toolyard.protocol.call import Call, Channel, Encoded, Json, JsonObject, Result
from toolyard.protocol.codec import dumps
from toolyard.protocol.eras.headers import check_parameters
from toolyard.protocol.tasks.words import FORBIDDEN, UPSTREAM, becomes_task

if TYPE_CHECKING:
    from toolyard.methods.tasks import TaskMethods

# In a tool's `_meta`: clients of 2025-11-25 poll for its answer instead of holding a stream.
# It travels with the definition, so it works through any number of gateways.
POLLED = "toolyard/poll"
# Raises ProtocolError if this call of this tool is not allowed; gives something to await if
# that takes time to find out.
Permit: TypeAlias = Callable[[Call, Tool], Awaitable[None] | None]


@dataclass(frozen=True, slots=True)
class ToolMethods:
    offer: Offer
    permit: Permit | None = None
    # Makes tasks of calls; what that takes is loaded with the first.
    tasks: Callable[[], TaskMethods] | None = None
    # Keeps results within their limits; None: there are none.
    results: Results | None = None

    async def call(self, call: Call, channel: Channel) -> Result:
        name = call.params.get("name")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "Tool name is required")
        catalog = self.offer.at_hand(call)
        tool = catalog.tools.get(name) if catalog is not None else None
        # Nearly always it is at hand, which takes no waiting.
        if catalog is None or tool is None or tool.unavailable is not None or name in OUR_NAMES:
            catalog, tool = await self._search(call, channel)
        arguments = _arguments_of(call, catalog, tool)
        decision = self.permit(call, tool) if self.permit is not None else None
        if decision is not None:
            await decision
        if tool.check_input or call.via is not None:
            check = check_arguments if call.via is None else check_with_schema
            check(catalog, tool, arguments)
        may_be_task = tool.tasks is not FORBIDDEN or "task" in call.params
        if may_be_task and _becomes_task(call, tool) and self.tasks is not None:
            work = partial(self._use, catalog, tool, arguments)
            return await self.tasks().begin(call, channel, tool, work)
        if "_meta" in tool.definition and _wants_polling(tool):
            channel.close_stream()
        result = await tool.target.call(arguments, call, channel)
        if tool.check_output:
            result = _with_valid_output(catalog, tool, result)
        elif type(result) is dict and UPSTREAM in result and self.tasks is not None:
            work, upstream = partial(self._use, catalog, tool, arguments), result[UPSTREAM]
            return await self.tasks().begin(call, channel, tool, work, upstream)
        if self.results is None or catalog.derived.get(HAS_LIMITS) is False:
            return result
        return await self.results.fit(catalog, tool, result, call)

    async def resume(self, call: Call, channel: Channel) -> Result:
        """Go on with a call that is a task at an upstream."""
        catalog, tool = await self._search(call, channel)
        return await self._use(catalog, tool, {}, call, channel)

    async def _search(self, call: Call, channel: Channel) -> tuple[Catalog, Tool]:
        """One of ours if this call's view has it, else that of the catalog. Waits if it must."""
        name = call.params["name"]
        if name in OUR_NAMES and self.offer.views is not None:
            facade = self.offer.views.shown(call, await self.offer.to(call, channel))
            if name in facade.tools:
                return facade, facade.tools[name]
        catalog = await self.offer.having(partial(_is_ready, name), call, channel)
        tool = catalog.tools.get(name)
        if tool is not None:
            return catalog, tool
        if call.via is not None:
            raise unknown(name)
        name = shown(name)
        raise ProtocolError(INVALID_PARAMS, f"Tool '{name}' not found", {"name": name})

    async def _use(
        self, catalog: Catalog, tool: Tool, arguments: JsonObject, call: Call, channel: Channel
    ) -> Result:
        """What a task does, once it is one."""
        result = await tool.target.call(arguments, call, channel)
        if tool.check_output:
            result = _with_valid_output(catalog, tool, result)
        return (
            result if self.results is None else await self.results.fit(catalog, tool, result, call)
        )


def _becomes_task(call: Call, tool: Tool) -> bool:
    """Raises ProtocolError."""
    if not becomes_task(call.revision, call.params, call.client.capabilities, tool.tasks):
        return False
    asks_at_once = tool.asks_first and call.input_responses is None
    return not asks_at_once


def _arguments_of(call: Call, catalog: Catalog, tool: Tool) -> JsonObject:
    """What the tool is called with. Raises if this call cannot be made."""
    arguments = call.params.get("arguments")
    if not isinstance(arguments, dict):
        arguments = _no_object(arguments)
    if call.headers is not None and call.revision.modern:
        names = catalog.header_names[tool.name]  # of the arguments that headers repeat
        if names:  # hardly any tool has some
            check_parameters(call.headers, names, arguments)
    if tool.unavailable is not None or tool.requires or call.via is not None:
        refuse_unready(tool, call)
    return arguments


def _is_ready(name: str, catalog: Catalog) -> bool:
    tool = catalog.tools.get(name)
    return tool is not None and tool.unavailable is None


def _no_object(arguments: Json) -> JsonObject:
    """No arguments if none were sent; anything else is refused."""
    if arguments is not None:
        raise ProtocolError(INVALID_PARAMS, "Tool arguments must be an object")
    return {}


def refuse_unready(tool: Tool, call: Call) -> None:
    if call.via is not None:
        refuse_detour(call.via, tool)
    if tool.unavailable is not None:
        raise ToolError(f"Tool '{tool.name}' is not available: {tool.unavailable}")
    missing = [name for name in tool.requires if name not in call.client.capabilities]
    if missing:
        raise ProtocolError(
            MISSING_CAPABILITY,
            f"Tool '{tool.name}' needs a client with the capability {', '.join(missing)}",
            {"requiredCapabilities": {name: {} for name in missing}},
        )


def _wants_polling(tool: Tool) -> bool:
    """Does this tool, which takes long, want its clients to poll for the answer?"""
    meta = tool.definition.get("_meta")
    return isinstance(meta, dict) and meta.get(POLLED) is True


def check_arguments(catalog: Catalog, tool: Tool, arguments: JsonObject) -> None:
    """Against its schema, for a tool whose input is to be checked."""
    names = tool.hidden and tool.hidden.intersection(arguments)
    if names:
        wrong: str | None = f"unknown argument {shown(', '.join(sorted(names)))}"
    else:
        wrong = catalog.input_checkers[tool.name](arguments)
    if wrong:
        raise ToolError(f"Invalid arguments for tool '{tool.name}': {wrong}")


def check_with_schema(catalog: Catalog, tool: Tool, arguments: JsonObject) -> None:
    """For a model that has seen the schema only in an answer, if at all: the error carries it.

    Whoever does the work may be more lenient; but it could not say what it takes.
    """
    try:
        check_arguments(catalog, tool, arguments)
    except ToolError as error:
        schema = dumps(tool.definition.get("inputSchema") or {}).decode()
        raise ToolError(f"{error.message}. Its inputSchema: {schema}") from None


def _with_valid_output(catalog: Catalog, tool: Tool, result: Result) -> Result:
    """The result, if it keeps to the declared output schema; else the call has failed."""
    if "outputSchema" not in tool.definition:
        return result
    if isinstance(result, Encoded) or result.get("isError") or "inputRequests" in result:
        return result
    if "structuredContent" not in result:
        raise ToolError(f"Tool '{tool.name}' declares an output schema but printed no JSON")
    wrong = catalog.output_checkers[tool.name](result["structuredContent"])
    if wrong:
        raise ToolError(f"The output of tool '{tool.name}' breaks its output schema: {wrong}")
    return result
