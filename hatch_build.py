"""The build hook: a wheel holds the built page; an editable install does without if it must."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent / "frontend"))

from build import CannotBuild, build


class PageHook(BuildHookInterface):  # type: ignore[type-arg]
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        try:
            build()
        except CannotBuild as problem:
            if version != "editable":
                raise
            self.app.display_warning(f"the page was not built: {problem}")
