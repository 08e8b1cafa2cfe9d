"""The built page: files that are read once. They hold no data, so they need no token."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "static"
APP_FRAME = "/app.html"
HOW = "python frontend/build.py"
NOT_BUILT = (
    "The page is not built. In a checkout, run\n\n"
    f"    {HOW}\n\n"
    "once (it fetches what it needs) and start the server again. "
    "The MCP endpoint at /mcp works without it.\n"
)
_TYPES = {
    ".html": b"text/html; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".svg": b"image/svg+xml",
    ".woff2": b"font/woff2",
    ".txt": b"text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the built page, ready to be sent."""

    body: bytes
    content_type: bytes
    etag: bytes
    forever: bool  # its name changes with its content


def is_built(folder: Path = FOLDER) -> bool:
    return (folder / "index.html").is_file()


def read_static(folder: Path = FOLDER) -> dict[str, Asset]:
    """URL path -> file; empty where the page was not built."""
    if not is_built(folder):
        return {}
    files = {
        f"/{path.relative_to(folder).as_posix()}": _read(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in _TYPES
    }
    files["/"] = files.pop("/index.html")
    return files


def _read(path: Path) -> Asset:
    body = path.read_bytes()
    etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'.encode()
    return Asset(body, _TYPES[path.suffix], etag, path.parent.name == "assets")
