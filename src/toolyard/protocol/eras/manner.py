"""How we speak to handshake clients, where `toolyard` and `mcp-bash` differ."""

# Annotations are no text here: a NamedTuple compiles such text, and every start waits for it.
from collections.abc import Mapping
from typing import NamedTuple

from toolyard.protocol.revisions import HANDSHAKE, LIKE_MCP_BASH, Revision


class Manner(NamedTuple):
    """The ways of one of the program's two names."""

    revisions: Mapping[str, Revision] = HANDSHAKE
    # An unknown revision in `initialize` is refused, not negotiated.
    strict_revisions: bool = False
    # `logging/setLevel` takes "DEBUG" for "debug".
    any_case_levels: bool = False


PLAIN = Manner()
OF_MCP_BASH = Manner(LIKE_MCP_BASH, strict_revisions=True, any_case_levels=True)


def manner_of(*, like_mcp_bash: bool) -> Manner:
    return OF_MCP_BASH if like_mcp_bash else PLAIN
