"""Under which name the program was called: the one place that knows what hangs on it.

Commands get `options.program`, the name to print, and `options.like_mcp_bash`; whatever serves
gets the latter in its plan, and hands it on as narrow values.
"""

from __future__ import annotations

from typing import NamedTuple

from toolyard import MCP_BASH_VERSION, __version__


class Program(NamedTuple):
    name: str
    version: str
    # Behave as users of mcp-bash expect.
    like_mcp_bash: bool = False


TOOLYARD = Program("toolyard", __version__)
MCP_BASH = Program("mcp-bash", f"{MCP_BASH_VERSION} (toolyard {__version__})", like_mcp_bash=True)
