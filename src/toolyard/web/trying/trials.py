"""Calls that the page starts: an event stream each, answered and cancelled by its id."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field
from time import perf_counter

from toolyard.errors import ProtocolError
from toolyard.protocol.call import Json, JsonObject
from toolyard.protocol.revisions import SERVER_METHODS
from toolyard.virtual.codec import decoded
from toolyard.web.recording.hops import Hop, observers
from toolyard.web.stream import Events
from toolyard.web.trying.channel import PageChannel
from toolyard.web.trying.stages import Clocked, stages
from toolyard.web.views.faults import fault_in
from toolyard.web.views.privacy import without_secrets
from toolyard.web.window import Window

# What the page may call: what any client may. None of them names a command.
METHODS = SERVER_METHODS


@dataclass(slots=True)
class Trial:
    """One call of the page while it runs."""

    id: str
    events: Events
    channel: PageChannel
    hops: list[Hop] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()


class Trials:
    """The page's calls that are running, by id."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._running: dict[str, Trial] = {}

    def find(self, trial_id: str) -> Trial | None:
        return self._running.get(trial_id)

    def start(self, method: str, params: JsonObject) -> Trial:
        events = Events()
        trial = Trial(secrets.token_hex(8), events, PageChannel(events))
        self._running[trial.id] = trial
        events.push("started", {"id": trial.id})
        trial.task = asyncio.get_running_loop().create_task(self._perform(trial, method, params))
        trial.task.add_done_callback(lambda _: self._ended(trial))
        return trial

    def _ended(self, trial: Trial) -> None:
        self._running.pop(trial.id, None)
        trial.events.end()

    async def _perform(self, trial: Trial, method: str, params: JsonObject) -> None:
        observers.set((trial.hops,))
        began = perf_counter()
        try:
            result = decoded(await self._window.call(method, params, trial.channel))
        except ProtocolError as error:
            failure = {"code": error.code, "message": error.message, "data": error.data}
            trial.events.push("failed", {**failure, "ms": _ms_since(began)})
            return
        except asyncio.CancelledError:
            trial.events.push("cancelled", {"ms": _ms_since(began)})
            raise
        times = Clocked(began, perf_counter())
        trial.events.push("result", self._report(trial, params, result, times))

    def _report(self, trial: Trial, params: JsonObject, result: JsonObject, times: Clocked) -> Json:
        arguments = params.get("arguments", params)
        steps = stages(arguments, trial.hops, result, times)
        for stage in steps[1:-1]:
            if stage["value"] in (arguments, result):
                stage["same"] = True
                del stage["value"]
            else:
                # A value that the client neither sent nor gets may hold those of variables.
                values = self._window.secrets()
                stage["value"] = without_secrets(stage["value"], values, frozenset())
        del steps[-1]["value"]  # it is the result itself
        ms = round((times.ended - times.began) * 1000, 3)
        fault = fault_in(result, trial.hops)
        return {"result": result, "stages": steps, "fault": fault, "ms": ms}

    async def close(self) -> None:
        running = [trial.task for trial in self._running.values() if trial.task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _ms_since(began: float) -> float:
    return round((perf_counter() - began) * 1000, 3)
