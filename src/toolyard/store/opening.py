"""Open the store that an address names. The client library is an extra, and imported here."""

from __future__ import annotations

from toolyard.errors import ConfigError
from toolyard.store.interface import Store, StoreError


async def open_store(url: str) -> Store:
    """Raises ConfigError where waiting would not help."""
    try:
        from toolyard.store.redis import RedisStore  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as missing:
        said = f"{missing.name} is not installed: pip install 'toolyard[redis]'"
        raise ConfigError.at("--store", said) from None
    store = RedisStore(url)
    try:
        await store.open()
    except StoreError as error:
        await store.close()
        raise ConfigError.at("--store", str(error)) from None
    return store
