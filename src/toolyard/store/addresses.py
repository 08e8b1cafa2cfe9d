"""Where a store is: addresses as people write them, made into a client of Redis.

    redis://[user:password@]host:port/database      rediss:// with TLS
    unix://[user:password@]/path/to/socket?db=0
    redis+sentinel://[user:password@]host:port,host:port/service/database
    redis+cluster://[user:password@]host:port,host:port

What redis-py reads from the query of an address (`?ssl_ca_certs=...`) may follow each of them.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from redis.asyncio import Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff

from toolyard.errors import ConfigError
from toolyard.store.trips import DEADLINE, Client

PLACE = "--store"
_PLAIN = ("redis", "rediss", "unix")
_SENTINEL = ("redis+sentinel", "rediss+sentinel")
_CLUSTER = ("redis+cluster", "rediss+cluster")
_PORTS = {"sentinel": 26379, "cluster": 6379}


def client_of(url: str) -> Client:
    """Raises ConfigError. Nothing is dialled yet."""
    scheme = urlsplit(url).scheme
    try:
        if scheme in _PLAIN:
            parse_url(url)
            return Redis.from_url(url, **_manner())
        if scheme in _SENTINEL:
            return _by_sentinels(url)
        if scheme in _CLUSTER:
            return _of_cluster(url)
    except (ValueError, TypeError) as error:
        raise ConfigError.at(
            PLACE, f"{shown(url)} is not the address of a store: {error}"
        ) from None
    known = ", ".join(f"{one}://" for one in (*_PLAIN, _SENTINEL[0], _CLUSTER[0]))
    said = f"{shown(url)} is not the address of a store: it begins with none of {known}"
    raise ConfigError.at(PLACE, said)


def shown(url: str) -> str:
    """Without a password, which may be in the query as well."""
    parts = urlsplit(url)
    if not parts.scheme:
        return repr(url.rpartition("@")[2])
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _manner() -> dict[str, Any]:
    """Nothing is sent twice: whoever asked decides whether it may be."""
    return {
        "socket_timeout": DEADLINE,
        "socket_connect_timeout": DEADLINE,
        "retry": Retry(NoBackoff(), 0),
        "client_name": "toolyard",
    }


def _by_sentinels(url: str) -> Redis:
    parts = urlsplit(url)
    service, _, database = parts.path.strip("/").partition("/")
    if not service:
        raise ValueError("name the service after the Sentinels, as in //host:26379/mymaster")
    tls = {"ssl": True} if parts.scheme == "rediss+sentinel" else {}
    manner = {**_manner(), **tls, **_given(url), "db": int(database or 0)}
    sentinel: Any = Sentinel(_hosts(url, "sentinel"), sentinel_kwargs=_manner() | tls)  # type: ignore[no-untyped-call]
    primary: Redis = sentinel.master_for(service, redis_class=Redis, **manner)
    return primary


def _of_cluster(url: str) -> RedisCluster:
    nodes = [ClusterNode(host, port) for host, port in _hosts(url, "cluster")]
    manner = {**_manner(), **_given(url)}
    tls = urlsplit(url).scheme == "rediss+cluster"
    return RedisCluster(startup_nodes=nodes, ssl=tls, **manner)


def _given(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    given: dict[str, Any] = dict(parse_qsl(parts.query))
    if user:
        given["username"] = unquote(user)
    if password:
        given["password"] = unquote(password)
    return given


def _hosts(url: str, kind: str) -> list[tuple[str, int]]:
    hosts = []
    for one in urlsplit(url).netloc.rpartition("@")[2].split(","):
        parts = urlsplit(f"//{one}")
        if not parts.hostname:
            raise ValueError("it names no host")
        hosts.append((parts.hostname, parts.port or _PORTS[kind]))
    return hosts
