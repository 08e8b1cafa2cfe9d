"""What can be wrong with Redis, in an operator's words."""

from __future__ import annotations

from redis.exceptions import (
    AuthenticationError,
    InvalidResponse,
    RedisError,
    ResponseError,
)

from toolyard.store.interface import StoreError


class NotAStore(StoreError):
    """Waiting does not help: the address, the password or the server has to be another."""


# By the first word of its error: it is there and does not write.
_REFUSALS = {
    "OOM": "is full: raise its maxmemory, or give it less to keep",
    "READONLY": "is read-only: name its primary, or Sentinels that know it",
    "MISCONF": "does not write, because it cannot save to its disk",
    "NOREPLICAS": "does not write, because too few of its replicas are there",
    "NOPERM": "does not allow its user what is needed: see docs/scaling.md",
}
_AWAY = ("LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "UNBLOCKED")
_WRONG_PASSWORD = ("WRONGPASS", "NOAUTH", "ERR invalid password", "ERR AUTH")
_NO_DATABASE = "ERR DB index"


def refusal(error: ResponseError) -> str | None:
    """What is said of a store that is there and does not do it; None where we are at fault."""
    word = _text(error).partition(" ")[0]
    return _REFUSALS.get(word)


def away(error: Exception) -> bool:
    """Will waiting help?"""
    text = _text(error)
    if isinstance(error, AuthenticationError | InvalidResponse):
        return False
    if text.startswith((*_WRONG_PASSWORD, _NO_DATABASE)):
        return False
    return not isinstance(error, ResponseError) or text.startswith(_AWAY)


def trouble(error: Exception, place: str) -> str:
    """The whole sentence, without a password."""
    text = _text(error)
    if isinstance(error, AuthenticationError) or text.startswith(_WRONG_PASSWORD):
        return f"the store at {place} refuses the password or the user"
    if isinstance(error, InvalidResponse):
        return f"what answers at {place} is not Redis"
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return f"the store at {place} does not answer in time"
    if isinstance(error, RedisError) and text.startswith(_AWAY):
        return f"the store at {place} is not ready: {text}"
    return f"the store at {place} cannot be reached: {text or type(error).__name__}"


def _text(error: Exception) -> str:
    """As the server said it: the client cuts the first word off some errors."""
    words = str(error)
    name = _FIRST_WORDS.get(type(error).__name__, "")
    return words if not name or words.startswith(name) else f"{name} {words}"


_FIRST_WORDS = {
    "OutOfMemoryError": "OOM",
    "ReadOnlyError": "READONLY",
    "NoPermissionError": "NOPERM",
    "BusyLoadingError": "LOADING",
    "MasterDownError": "MASTERDOWN",
    "ClusterDownError": "CLUSTERDOWN",
    "TryAgainError": "TRYAGAIN",
    "NoScriptError": "NOSCRIPT",
}
