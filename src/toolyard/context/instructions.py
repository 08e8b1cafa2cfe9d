"""The instructions of all servers as one text of bounded length. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_CUT = "(The rest of these instructions is left out.)"


def merged(own: str | None, parts: Mapping[str, str], limit: int) -> str | None:
    """Our own first, whole; then a section for each server, together within `limit` bytes.

    Short ones stay whole, and what they leave of their share goes to the long ones.
    """
    sections = {name: text.strip() for name, text in parts.items() if text.strip()}
    shares = _shares([_size(text) for text in sections.values()], limit)
    texts = [
        f"## {name}\n\n{_within(text, share)}"
        for (name, text), share in zip(sections.items(), shares, strict=True)
        if share
    ]
    return "\n\n".join([own, *texts] if own else texts) or None


def _shares(sizes: Sequence[int], limit: int) -> list[int]:
    """How much each may have: the shortest are served first, so nothing is left unused."""
    shares = [0] * len(sizes)
    left = limit
    by_size = sorted(range(len(sizes)), key=lambda index: sizes[index])
    for served, index in enumerate(by_size):
        shares[index] = min(sizes[index], left // (len(sizes) - served))
        left -= shares[index]
    return shares


def _size(text: str) -> int:
    return len(text.encode())


def _within(text: str, share: int) -> str:
    """The text, cut after a whole word where it is too long, and saying so."""
    if _size(text) <= share:
        return text
    room = max(0, share - len(_CUT) - 1)
    start = text.encode()[:room].decode(errors="ignore")
    whole_words = start[: max(start.rfind(" "), start.rfind("\n"), 0)].rstrip()
    return f"{whole_words}\n{_CUT}" if whole_words else _CUT
