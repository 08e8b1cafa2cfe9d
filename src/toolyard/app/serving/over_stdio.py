"""Run what a plan describes over stdin and stdout."""

from __future__ import annotations

import asyncio
import os
import signal

from toolyard.app.build import build
from toolyard.app.observing import observation_of
from toolyard.app.payloads import payload_log
from toolyard.app.plan import Plan
from toolyard.app.serving.running import keep_instructions, kept_running
from toolyard.app.taps import NoTaps
from toolyard.protocol.eras.handshake import Answered
from toolyard.settings import Settings
from toolyard.telemetry import logger
from toolyard.transports.stdio import StdioSettings, StdioTransport

log = logger("stdio")


def serve(plan: Plan, early: Answered, stdout: int) -> int:
    asyncio.run(_serve(plan, early, stdout))
    return 0


async def _serve(plan: Plan, early: Answered, stdout: int) -> None:
    observation = observation_of(plan, "pipe")
    app = build(plan, observation.over(NoTaps()))
    observation.attach_to(app)
    observation.follow(app.edge.parking)
    app.settle_in(plan)
    transport = StdioTransport(
        app.edge, _settings(plan.settings, stdout), early, payload_log(plan.settings)
    )
    if plan.settings.log_startup:
        log.info("serving %s over stdio (%s)", plan.identity.info["name"], os.getpid())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, transport.stop)
    async with observation.running(), kept_running(app):
        await transport.serve()
        keep_instructions(plan, app)


def _settings(settings: Settings, stdout: int) -> StdioSettings:
    return StdioSettings(
        stdin=0,
        stdout=stdout,
        grace=settings.shutdown_timeout,
        # A call ends by its own limit; none outlasts this one.
        patience=settings.max_timeout_secs + settings.shutdown_timeout,
        idle_timeout=settings.idle_timeout if settings.idle_timeout_enabled else None,
        orphan_check=settings.orphan_check_interval if settings.orphan_check_enabled else None,
    )
