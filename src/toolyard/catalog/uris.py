"""One spelling for each URI, however it was written, so that a rule holds for all spellings.

Only for comparing: whoever reads a resource gets the URI as it was sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from urllib.parse import quote, quote_from_bytes, unquote_to_bytes

from toolyard.catalog.uritemplate import MOST_CHARACTERS


def plain(uri: str) -> str:
    """Decoded once, without `.`, `..` and empty parts, without query and fragment."""
    scheme, colon, remainder = uri.partition(":")
    if not colon or len(uri) > MOST_CHARACTERS:
        return uri
    return _spelling(scheme.lower(), remainder.partition("#")[0].partition("?")[0])


def _spelling(scheme: str, remainder: str) -> str:
    parts: list[bytes] = []
    for part in unquote_to_bytes(remainder).split(b"/"):
        if part == b"..":
            parts = parts[:-1]
        elif part not in (b"", b"."):
            parts.append(part)
    if scheme != "file":
        return f"{scheme}://{quote_from_bytes(b'/'.join(parts))}"
    if remainder.startswith("//") and not remainder.startswith("///"):
        parts = parts[1:]  # the host, which can only be this machine
    return f"file:///{quote_from_bytes(b'/'.join(parts))}"


def _with_query(uri: str) -> str:
    """The same with the query, whose order does not matter."""
    query = uri.partition("#")[0].partition("?")[2]
    pairs = sorted(unquote_to_bytes(pair) for pair in query.split("&"))
    return f"{plain(uri)}?{quote_from_bytes(b'&'.join(pairs))}"


def withheld_spellings(uris: Iterable[str]) -> frozenset[str]:
    """What a URI is compared with. A query distinguishes web pages, but not files."""
    spellings: set[str] = set()
    for uri in uris:
        if "?" not in uri.partition("#")[0] or uri[:5].lower() == "file:":
            spellings.add(plain(uri))
        else:
            spellings.add(_with_query(uri))
    return frozenset(spellings)


def is_one_of(uri: str, spellings: frozenset[str]) -> bool:
    """Does it name one of these? Links to files are followed: what would be read counts."""
    spelt = plain(uri)
    if spelt in spellings or _with_query(uri) in spellings:
        return True
    if not spelt.startswith("file:///"):
        return False
    try:
        real = os.path.realpath(unquote_to_bytes(spelt.removeprefix("file://")))
    except (OSError, ValueError):
        return False  # then nobody can read it
    return f"file://{quote(real)}" in spellings
