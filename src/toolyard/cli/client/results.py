"""The result of a call, for people."""

from __future__ import annotations

from collections.abc import Iterator

from toolyard.cli.output import pretty
from toolyard.protocol.call import JsonObject


def as_text(result: JsonObject) -> Iterator[str]:
    """The texts, and for every other block its type."""
    content = result.get("content")
    content = content if isinstance(content, list) else []
    blocks = [block for block in content if isinstance(block, dict)]
    for block in blocks:
        yield (
            str(block["text"]).removesuffix("\n")
            if "text" in block
            else f"[{block.get('type', 'unknown')}]"
        )
    if not blocks and "structuredContent" in result:
        yield pretty(result["structuredContent"])
