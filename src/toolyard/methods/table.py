"""Which method means what: the table, and the handler made from it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from toolyard.context.meta_tools import CALL_TOOLS, META_NAMES
from toolyard.errors import METHOD_NOT_FOUND, LoginRequired, ProtocolError, shown
from toolyard.methods.completions import CompletionMethods
from toolyard.methods.lists import list_method
from toolyard.methods.news import News
from toolyard.methods.offer import Offer
from toolyard.methods.prompts import PromptMethods
from toolyard.methods.resources import ResourceMethods
from toolyard.methods.results import Results
from toolyard.methods.roots import RootsMethods
from toolyard.methods.subscriptions import Room, SubscriptionMethods
from toolyard.methods.tools import ToolMethods
from toolyard.protocol.call import Call, Channel, Handler, JsonObject, Result
from toolyard.protocol.kinds import KINDS, NAMED_BY, SPELLED
from toolyard.protocol.revisions import ALL

if TYPE_CHECKING:
    from toolyard.methods.tasks import TaskMethods

# Has whoever is calling log in, if that can be; False: nobody did.
AskToLogIn: TypeAlias = Callable[[LoginRequired, Call, Channel], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Methods:
    """Answers every call by its method; made once, by the app."""

    table: Mapping[str, Handler]
    subscriptions: SubscriptionMethods

    def __call__(self, call: Call, channel: Channel) -> Awaitable[Result]:
        method = self.table.get(call.method)
        if method is None:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", shown(call.method))
        return method(call, channel)

    async def close(self) -> None:
        await self.subscriptions.close()


def minimal_methods_of(offer: Offer) -> Methods:
    """Lifecycle, ping and logging only, which the transports answer themselves."""
    subscriptions = SubscriptionMethods(offer)
    return Methods({"notifications/initialized": subscriptions.initialized}, subscriptions)


def methods_of(
    offer: Offer,
    tools: ToolMethods | None = None,
    roots: RootsMethods | None = None,
    *,
    news: News | None = None,
    on_roots_changed: Callable[[str], None] | None = None,
    room: Room | None = None,
) -> Methods:
    """`on_roots_changed` is called with the key of a session whose roots have changed."""
    tools = tools or ToolMethods(offer)
    tasks = tools.tasks
    subscriptions = SubscriptionMethods(offer, room or Room(), tasks)
    table: dict[str, Handler] = {
        **{SPELLED[kind].method: list_method(offer, kind) for kind in KINDS},
        "tools/call": tools.call,
        "resources/read": _with_results(ResourceMethods(offer).read, tools.results),
        "resources/subscribe": subscriptions.subscribe,
        "resources/unsubscribe": subscriptions.unsubscribe,
        "prompts/get": PromptMethods(offer).get,
        "completion/complete": CompletionMethods(offer).complete,
        "subscriptions/listen": subscriptions.listen,
        "notifications/initialized": subscriptions.initialized,
    }
    if tasks is not None:
        table |= dict.fromkeys(TASK_METHODS, _of_tasks(tasks))
    if news is not None:
        table["notifications/initialized"] = _both(subscriptions.initialized, news.initialized)
    if on_roots_changed is not None:
        table["notifications/roots/list_changed"] = _roots_notice(on_roots_changed)
    if roots is not None:
        table.update(_with_roots(table, roots))
    return Methods(table, subscriptions)


def _of_tasks(tasks: Callable[[], TaskMethods]) -> Handler:
    return lambda call, channel: tasks().answer(call, channel)


TASK_METHODS = frozenset[str]().union(
    *(
        {method for method in revision.methods if method.startswith("tasks/")}
        for revision in ALL.values()
    )
)
_RUN_SCRIPTS = (*NAMED_BY, "completion/complete")


def _with_results(read: Handler, results: Results | None) -> Handler:
    return read if results is None else results.reading(read)


def _roots_notice(notify: Callable[[str], None]) -> Handler:
    async def answer(_call: Call, channel: Channel) -> Result:
        if channel.session is not None:
            notify(channel.session.key)
        return {}

    return answer


def _with_roots(table: Mapping[str, Handler], roots: RootsMethods) -> dict[str, Handler]:
    return {
        **{method: roots.awaited(table[method]) for method in _RUN_SCRIPTS},
        "notifications/initialized": _both(roots.initialized, table["notifications/initialized"]),
        "notifications/roots/list_changed": (
            _both(notify, roots.changed)
            if (notify := table.get("notifications/roots/list_changed"))
            else roots.changed
        ),
    }


def _both(before: Handler, after: Handler) -> Handler:
    async def answer(call: Call, channel: Channel) -> Result:
        await before(call, channel)
        return await after(call, channel)

    return answer


def logging_in(handler: Handler, ask: AskToLogIn) -> Handler:
    """The handler, which is tried again once somebody has logged in where a server requires it."""

    async def handle(call: Call, channel: Channel) -> Result:
        try:
            return await handler(call, channel)
        except LoginRequired as needed:
            if not await ask(needed, call, channel):
                raise
        # Nothing of the call has been sent yet: this is its first attempt.
        return await handler(call, channel)

    return handle


def unwrapped(handler: Handler, is_full: Callable[[Call, Channel], Awaitable[bool]]) -> Handler:
    """The handler, for which a call through a call tool is a call of the tool it names."""
    call_tools = tuple(CALL_TOOLS)

    def handle(call: Call, channel: Channel) -> Awaitable[Result]:
        # In a tuple, as what a client sends for a name may have no hash.
        if call.method == "tools/call" and call.params.get("name") in call_tools:
            return through(call, channel)
        return handler(call, channel)

    async def through(call: Call, channel: Channel) -> Result:
        params = _inner_params(call.params)
        if params is None or await is_full(call, channel):
            return await handler(call, channel)
        # Headers repeat arguments of the tool that the client sees, and not of this one.
        real = replace(call, params=params, headers=None, via=call.params["name"])
        return await handler(real, channel)

    return handle


def _inner_params(params: JsonObject) -> JsonObject | None:
    """What is called, with what; None if that is not said, or is a meta tool again."""
    arguments = params.get("arguments")
    if not isinstance(arguments, dict):
        return None
    name, given = arguments.get("name"), arguments.get("arguments")
    if not isinstance(name, str) or name in META_NAMES:
        return None
    if given is not None and not isinstance(given, dict):
        return None
    return {**params, "name": name, "arguments": given or {}}
