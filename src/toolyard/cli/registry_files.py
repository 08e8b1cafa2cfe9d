"""The registry files of a running gateway, as the page reads, checks and saves them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from toolyard.app import App
from toolyard.catalog.snapshot import Catalog, assemble
from toolyard.durable import write_whole
from toolyard.protocol.call import Json, JsonObject
from toolyard.sources.gateway import GatewaySource
from toolyard.sources.registry import masking
from toolyard.sources.registry.model import Registry
from toolyard.sources.registry.text import parse


def registry_files(app: App) -> tuple[OnDisk, ...]:
    if app.gateway is None:
        return ()
    return tuple(OnDisk(app.gateway, one.file) for one in app.gateway.registries.files)


@dataclass(frozen=True, slots=True)
class OnDisk:
    gateway: GatewaySource
    path: str

    def read(self) -> str:
        with open(self.path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            return stream.read()

    def save(self, text: str) -> None:
        """Whole or not at all: a reader sees the file from before or the new one."""
        real = os.path.realpath(self.path)
        data = text.encode("utf-8", "surrogateescape")
        write_whole(real, data, os.stat(real).st_mode & 0o7777)

    def parse(self, text: str) -> Json:
        return parse(text.encode("utf-8", "surrogateescape"))

    def described(self) -> JsonObject:
        registry = self._loaded()
        native = masking.shown(registry)
        return {
            "format": registry.format,
            "servers": native.get("servers") or [],
            "lost": list(registry.lost),
            "native": native if registry.format != "native" else None,
        }

    def would_be(self, text: str) -> Catalog:
        data = text.encode("utf-8", "surrogateescape")
        return assemble([self.gateway.would_read({self.path: data})])

    def _loaded(self) -> Registry:
        files = self.gateway.registries.files
        return next((one for one in files if one.file == self.path), Registry(self.path))
