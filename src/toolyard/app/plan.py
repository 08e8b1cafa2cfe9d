"""What to serve, as a command has read it from its flags. Builds nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from toolyard.protocol.identity import Identity
from toolyard.settings import Settings
from toolyard.sources.project.discover.scan import Scan
from toolyard.sources.project.layout import Project, registry_paths
from toolyard.sources.registry.lock.lock import LOCK_NAME


@dataclass(frozen=True, slots=True)
class Plan:
    """What to serve and how: everything that the app is built from."""

    settings: Settings
    identity: Identity
    project: Project | None = None
    registries: tuple[str, ...] = ()
    # Behave as users of mcp-bash expect: deny by default, strict revisions, small pages.
    like_mcp_bash: bool = False
    # The scan that the first list was answered from, if there was one.
    scan: Scan | None = None
    # One client, which started us, instead of any number over the network.
    own_client: bool = False
    # Read server.d/env.sh, if that is allowed.
    server_env: bool = True
    # More variables for scripts: the exports of files that the command line names.
    exports: Mapping[str, str] = field(default_factory=dict)
    # Offer only what is as the lock says.
    by_lock: bool = False

    @property
    def registry_paths(self) -> tuple[str, ...]:
        return registry_paths(self.project, self.registries)

    @property
    def lock_path(self) -> str:
        """Beside the first registry file, else in the project."""
        paths = self.registry_paths
        root = self.project.root if self.project is not None else "."
        return os.path.join(os.path.dirname(paths[0]) if paths else root, LOCK_NAME)
