"""From a command's options to the plan of what is served."""

from __future__ import annotations

from argparse import Namespace

from toolyard.app.plan import Plan
from toolyard.cli.options import Chosen
from toolyard.cli.serve import identity_of
from toolyard.settings import Settings


def plan_of(options: Namespace, chosen: Chosen, settings: Settings | None = None) -> Plan:
    return Plan(
        settings or chosen.settings,
        identity_of(chosen),
        chosen.project,
        chosen.registries,
        like_mcp_bash=options.like_mcp_bash,
    )
