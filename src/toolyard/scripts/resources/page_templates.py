"""Our templates for MCP Apps pages: one frame, and a small script for each, in `templates/`.

The page speaks the MCP Apps protocol with the host that shows it: JSON-RPC over postMessage. Its
script and style are inside it, because a host shows a single document.
"""

from __future__ import annotations

import html
from functools import cache
from pathlib import Path

from toolyard.protocol.call import JsonObject
from toolyard.scripts.contract.environ import compact

_FOLDER = Path(__file__).parent / "templates"


def page_of(template: str, config: JsonObject) -> str:
    title = config.get("title")
    about = config.get("description")
    return _file("page.html").format(
        title=html.escape(title if isinstance(title, str) else template),
        about=html.escape(about if isinstance(about, str) else ""),
        style=_file("page.css"),
        # `<` cannot end the element that the JSON is in.
        config=compact(config).decode().replace("<", "\\u003c"),
        script=_file("page.js") + _file(f"{template}.js"),
    )


@cache
def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")
