"""Which of the project's tools may be called at all. Denied tools stay listed."""

from __future__ import annotations

from dataclasses import dataclass

from toolyard.catalog.entries import Tool
from toolyard.errors import INVALID_PARAMS, ProtocolError

_EVERYTHING = frozenset({"*", "all"})


@dataclass(frozen=True, slots=True)
class Allowlist:
    """The tools that the operator named, and what holds for all others."""

    names: frozenset[str] = frozenset()
    # What holds for tools that are not named.
    otherwise: bool = True

    def check(self, tool: Tool) -> None:
        """Raise for a tool that the operator did not allow."""
        if self.otherwise or tool.name in self.names or self.names & _EVERYTHING:
            return
        if not self.names:
            hint = ". Set MCPBASH_TOOL_ALLOWLIST in your MCP client config."
        else:
            hint = " (not in MCPBASH_TOOL_ALLOWLIST)"
        raise ProtocolError(INVALID_PARAMS, f"Tool '{tool.name}' blocked by policy{hint}")


def allowlist(names: tuple[str, ...], default: str, *, deny_unnamed: bool) -> Allowlist:
    """From the settings: an empty list means all, unless the command denies by default."""
    otherwise = default in ("allow", "all") or (not names and not deny_unnamed)
    return Allowlist(frozenset(names), otherwise)
