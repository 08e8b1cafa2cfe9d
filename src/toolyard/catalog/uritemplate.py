"""RFC 6570 templates matched in reverse: which variables make this URI?"""

from __future__ import annotations

import re


def match(template: str, uri: str) -> dict[str, str] | None:
    pattern = "".join(
        f"(?P<{part[1:-1]}>[^/]+)" if part.startswith("{") else re.escape(part)
        for part in re.split(r"(\{\w+\})", template)
    )
    found = re.fullmatch(pattern, uri)
    return found.groupdict() if found else None
