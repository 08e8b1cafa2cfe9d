"""The registry files of a running gateway, as the page reads, checks and saves them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from toolyard.app.build import App
from toolyard.app.federation import Federation
from toolyard.catalog.snapshot import Catalog, assemble
from toolyard.errors import Problem
from toolyard.files.comments import parse
from toolyard.files.whole import alone_in, rewrite
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.registry import masking
from toolyard.sources.registry.format.model import Registry
from toolyard.web.editing.registries import Stale, stamp


def registry_files(app: App) -> tuple[OnDisk, ...]:
    federation = app.federation
    return tuple(OnDisk(federation, registry.file) for registry in federation.registries.files)


@dataclass(frozen=True, slots=True)
class OnDisk:
    """One registry file that is served, and can be edited."""

    federation: Federation
    path: str

    def read(self) -> str:
        with open(self.path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            return stream.read()

    def save(self, text: str, seen: str) -> None:
        """Whole or not at all: a reader sees the file from before or the new one."""
        data = text.encode("utf-8", "surrogateescape")
        with alone_in(os.path.dirname(os.path.realpath(self.path))):
            if stamp(self.read()) != seen:
                raise Stale
            rewrite(self.path, data)

    def parse(self, text: str) -> Json:
        return parse(text.encode("utf-8", "surrogateescape"))

    def described(self) -> JsonObject:
        registry = self._registry()
        native = masking.shown(registry)
        return {
            "format": registry.format,
            "servers": native.get("servers") or [],
            "lost": list(registry.lost),
            "native": native if registry.format != "native" else None,
        }

    def would_be(self, text: str) -> tuple[Catalog, list[Problem]]:
        data = text.encode("utf-8", "surrogateescape")
        entries, registries = self.federation.would_read({self.path: data})
        mistakes = [problem for registry in registries.files for problem in registry.problems]
        return assemble([entries]), mistakes

    def _registry(self) -> Registry:
        files = self.federation.registries.files
        return next(
            (registry for registry in files if registry.file == self.path), Registry(self.path)
        )
