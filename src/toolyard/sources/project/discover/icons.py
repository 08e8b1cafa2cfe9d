"""Icons of metadata: a local file becomes a data URI, everything else passes."""

from __future__ import annotations

import binascii
import os
from typing import Any

MAX_BYTES = 1 << 20
_MIME = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".ico": "image/x-icon",
}


def inline_icons(icons: Any, folder: str, warnings: list[str], place: str) -> list[Any] | None:
    """The icons with local files inlined, relative to `folder`; None where there are none."""
    if not isinstance(icons, list):
        warnings.append(f"{place}: icons must be an array; left out")
        return None
    icons_or_none = [_inlined(icon, folder, warnings, place) for icon in icons]
    return [icon for icon in icons_or_none if icon is not None] or None


def _inlined(icon: Any, folder: str, warnings: list[str], place: str) -> Any:
    source = icon.get("src") if isinstance(icon, dict) else None
    if not isinstance(source, str) or not source:
        warnings.append(f"{place}: an icon needs a src; left out")
        return None
    if source.startswith(("data:", "https://", "http://")):
        return icon
    path = os.path.join(folder, source.removeprefix("file://"))
    try:
        uri, mime = _data_uri(path)
    except (OSError, ValueError) as error:
        warnings.append(f"{place}: icon {source!r} left out: {error}")
        return None
    return {**icon, "src": uri, "mimeType": icon.get("mimeType", mime)}


def _data_uri(path: str) -> tuple[str, str]:
    mime = _MIME.get(os.path.splitext(path)[1].lower())
    if mime is None:
        raise ValueError(f"expected one of {', '.join(_MIME)}")
    with open(path, "rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"larger than {MAX_BYTES} bytes")
    text = binascii.b2a_base64(content, newline=False).decode("ascii")
    return f"data:{mime};base64,{text}", mime
