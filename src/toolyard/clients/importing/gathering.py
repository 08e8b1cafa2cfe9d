"""From the files of clients to the servers of a registry, with a word about everything."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from toolyard.clients.importing.entries_in import RawServer, ServerFile, servers_in
from toolyard.clients.importing.merging import Merging
from toolyard.clients.importing.references import Unknown, translated
from toolyard.clients.importing.secrets import SecretVariables, without_secrets
from toolyard.clients.importing.spellings import Unusable, native_of
from toolyard.clients.ourselves import is_ours


@dataclass(frozen=True, slots=True)
class Line:
    """What has become of one server, or of one file."""

    file: str
    client: str
    name: str
    # imported, known, ours, skipped, broken or empty
    outcome: str
    note: str = ""
    lost: tuple[str, ...] = ()


@dataclass(slots=True)
class Gathering:
    """Everything that was found, read but not yet written anywhere."""

    merging: Merging
    urls: Collection[str] = ()
    skip_disabled: bool = False
    variables: SecretVariables = field(default_factory=SecretVariables)
    lines: list[Line] = field(default_factory=list)
    # The servers that each file has, by the names that they have there.
    names_by_file: dict[str, list[str]] = field(default_factory=dict)

    def gather(self, files: Iterable[ServerFile]) -> None:
        for file in files:
            try:
                servers = servers_in(file)
            except ValueError as error:
                self._line(file, "", "broken", str(error))
                continue
            except OSError as error:
                self._line(file, "", "broken", f"cannot be read: {error.strerror}")
                continue
            if not servers:
                self._line(file, "", "empty", "names no servers")
            for server in servers:
                self._take(server)

    @property
    def servers(self) -> list[dict[str, Any]]:
        """Those that are new."""
        return [entry.server for entry in self.merging.added]

    def _take(self, raw: RawServer) -> None:
        if is_ours(raw.entry, self.urls):
            self._line(raw.file, raw.name, "ours", "is this program")
            return
        try:
            native, lost = native_of(raw)
        except Unusable as error:
            self._line(raw.file, raw.name, "skipped", str(error))
            return
        if self.skip_disabled and "disabled" in native:
            self._line(raw.file, raw.name, "skipped", str(native["disabled"]))
            return
        note = ""
        try:
            native = translated(native, raw)
        except Unknown as error:
            note = str(error)
            native["disabled"] = note
        self._merge(raw, native, note, lost)

    def _merge(
        self, raw: RawServer, native: dict[str, Any], note: str, lost: tuple[str, ...]
    ) -> None:
        client = raw.file.client
        native = without_secrets(raw.name, native, self.variables)
        count = len(self.merging.added)
        entry = self.merging.add(raw.name, native, client.id, f"{client.id}: {raw.file.path}")
        outcome = "imported" if len(self.merging.added) > count else "known"
        name = entry.server["name"]
        note = note or (f"as {name}" if name != raw.name else "")
        self.lines.append(Line(raw.file.path, client.id, raw.name, outcome, note, lost))
        self.names_by_file.setdefault(raw.file.path, []).append(raw.name)

    def _line(self, file: ServerFile, name: str, outcome: str, note: str) -> None:
        self.lines.append(Line(file.path, file.client.id, name, outcome, note))
