"""The program on the other end: what it says it is, and what it can be asked.

Named tuples here and in the other modules that `initialize` needs: dataclasses take as long
to import as everything else on the way to the first answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from toolyard.protocol.values import Json, JsonObject


class Client(NamedTuple):
    info: JsonObject
    capabilities: JsonObject

    def supports(self, method: str, mode: str = "form") -> bool:
        """Can this client answer the question `method`?"""
        if method == "elicitation/create":
            return mode in elicitation_modes(self.capabilities)
        if method == "sampling/createMessage":
            return "sampling" in self.capabilities
        return method == "roots/list" and "roots" in self.capabilities


def elicitation_modes(capabilities: Mapping[str, Json]) -> frozenset[str]:
    """The modes declared; a bare `elicitation: {}` means forms."""
    declared = capabilities.get("elicitation")
    if not isinstance(declared, dict):
        return frozenset()
    return frozenset(declared) & {"form", "url"} or frozenset({"form"})


UNKNOWN = Client({}, {})
