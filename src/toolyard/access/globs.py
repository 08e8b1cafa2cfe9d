"""Names by pattern: `*` and `?`, case counts. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from typing import TypeAlias

Matches: TypeAlias = Callable[[str], bool]


def globs(patterns: Iterable[str]) -> Matches:
    """Does a name fit one of these patterns? None of them: no name does."""
    texts = tuple(patterns)
    if not texts:
        return lambda name: False
    if "*" in texts:
        return lambda name: True
    match = re.compile("|".join(translate(pattern) for pattern in texts)).match
    return lambda name: match(name) is not None
