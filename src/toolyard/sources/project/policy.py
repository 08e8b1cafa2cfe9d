"""The project's policy.sh, where it has one: found, and asked only while it is safe."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toolyard.files.safety import why_unsafe
from toolyard.scripts.running.runner import Runner
from toolyard.sources.project.layout import Project

if TYPE_CHECKING:
    from toolyard.scripts.policy import PolicyScript


def policy_of(project: Project, runner: Runner) -> PolicyScript | None:
    """No opt-in: a policy can only take away."""
    path = os.path.join(project.server, "policy.sh")
    if not os.path.lexists(path):
        return None
    # Few projects have one: the start of the others does not pay for it.
    from toolyard.scripts.policy import PolicyScript  # noqa: PLC0415

    return PolicyScript(
        path,
        lambda: why_unsafe(path, project.server, project.root),
        runner,
        runner.settings.default_timeout,
    )
