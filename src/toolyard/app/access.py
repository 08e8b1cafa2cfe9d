"""Who may do what: the parts of `access` that the settings ask for, put together.

This runs before the first answer of every server, and most servers have neither tokens nor
rules: each part is imported only where the settings ask for it.
"""

# ruff: noqa: PLC0415 - see above

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from toolyard.access.allowlist import allowlist
from toolyard.access.callers import Anyone, Authenticator
from toolyard.app.serving.later import Later
from toolyard.catalog.entries import Tool
from toolyard.catalog.snapshot import Narrowing
from toolyard.errors import ConfigError, LoginRequired, UpstreamError
from toolyard.methods.table import logging_in
from toolyard.methods.tools import Permit
from toolyard.methods.views import OURS
from toolyard.protocol.call import Call, Caller, Channel, Handler
from toolyard.protocol.jsonrpc import Message
from toolyard.settings import Settings

if TYPE_CHECKING:
    from toolyard.access.audit_file import AuditFile
    from toolyard.access.connect import Connect
    from toolyard.access.limits.limited import CallLimits
    from toolyard.access.oauth.accounts import Accounts
    from toolyard.access.oauth.config import Server
    from toolyard.access.oauth.vault import Vault
    from toolyard.access.resource import ProtectedResource
    from toolyard.access.rules import Allowed
    from toolyard.access.tokens import StaticToken
    from toolyard.cluster.cluster import Cluster
    from toolyard.http.challenge import Challenge
    from toolyard.http.response import Responder
    from toolyard.scripts.policy import PolicyScript

# The person at the page is the one who wrote the rules.
UNRULED = frozenset({"page"})
CONNECT = "/oauth/connect"
AT_THIS_MACHINE = frozenset({"local", "page"})


def authenticator_of(settings: Settings, *, loopback: bool) -> Authenticator:
    """Anyone on loopback; elsewhere nobody without a credential. Raises ConfigError."""
    tokens, resource = tokens_of(settings), protected_resource(settings)
    if tokens or resource is not None:
        from toolyard.access.inbound import Bearers
        from toolyard.access.tokens import StaticTokens

        jwt_tokens = resource.tokens() if resource is not None else None
        return Bearers(StaticTokens(tokens), jwt_tokens, resource.hint if resource else "")
    if not loopback:
        raise ConfigError.at(
            "--http",
            "refusing to bind an address that others can reach without authentication: "
            "run `toolyard token new NAME`, set TOOLYARD_TOKEN, or configure `oauth`",
        )
    return Anyone()


def tokens_of(settings: Settings, environ: Mapping[str, str] = os.environ) -> list[StaticToken]:
    """The tokens of the settings file, and that of the environment, which is named `token`."""
    token = environ.get("TOOLYARD_TOKEN")
    if not settings.tokens and not token:
        return []
    from toolyard.access.tokens import StaticToken, hash_of, read_tokens

    tokens = list(read_tokens(settings.tokens, *settings.place("tokens")))
    return [*tokens, StaticToken("token", hash_of(token))] if token else tokens


def protected_resource(settings: Settings) -> ProtectedResource | None:
    if not settings.oauth:
        return None
    from toolyard.access.resource import read_resource

    return read_resource(settings.oauth, *settings.place("oauth"))


def routes_of(settings: Settings) -> Mapping[str, Responder]:
    """Open to everybody: our metadata as a protected resource."""
    resource = protected_resource(settings)
    return resource.routes() if resource is not None else {}


def connect_routes(
    logins: Logins, authenticator: Authenticator, servers: Callable[[], Iterable[Server]]
) -> Mapping[str, Responder]:
    """Where callers hand over their tokens for these OAuth servers."""

    def connect() -> Connect:
        from toolyard.access.connect import Connect

        return Connect(authenticator, logins.accounts, servers)

    return {CONNECT: Later(connect)}


def view_of(settings: Settings) -> Narrowing | None:
    """What each caller sees of the catalog; None where each sees everything."""
    if not settings.rules and not settings.tokens:
        return None
    from toolyard.access.rules import Rules, read_rules

    by_caller = {token.caller_id: _allowed(token) for token in tokens_of(settings) if token.narrows}
    return Rules(read_rules(settings.rules, *settings.place("rules")), by_caller, unruled=UNRULED)


def _allowed(token: StaticToken) -> Allowed:
    from toolyard.access.globs import globs
    from toolyard.access.rules import Allowed

    return Allowed(*(globs(part or ()) for part in (token.tools, token.resources, token.prompts)))


def limits_of(settings: Settings, cluster: Cluster | None) -> CallLimits | None:
    if not settings.limits:
        return None
    from toolyard.access.limits.limit import read_limits
    from toolyard.access.limits.limited import CallLimits

    limits = read_limits(settings.limits, *settings.place("limits"))
    counts = cluster.counts if cluster is not None else None
    if cluster is None or cluster.store is None:
        return CallLimits(limits, counts, counts)
    from toolyard.access.limits.cluster import ClusterMeter, ClusterSeats
    from toolyard.access.limits.meters import OwnMeter, OwnSeats

    meter = ClusterMeter(cluster.store, counts or OwnMeter())
    return CallLimits(limits, meter, ClusterSeats(cluster.store, counts or OwnSeats()))


def guarded(handler: Handler, settings: Settings, limits: CallLimits | None) -> Handler:
    """The handler, counted and recorded as the settings ask."""
    if limits is not None:
        handler = limits.over(handler)
    if settings.audit_log:
        from toolyard.access.audit import Audit, audited

        audit = Audit(audit_file(settings), arguments=settings.audit_arguments)
        handler = audited(handler, audit)
    return handler


def audit_file(settings: Settings) -> AuditFile:
    from toolyard.access.audit_file import AuditFile, Rotation

    rotation = Rotation(settings.audit_max_bytes, settings.audit_keep)
    return AuditFile(settings.audit_log, settings.audit_format, rotation)


class Recorded(Protocol):
    """Where refused requests are written down."""

    def over(self, app: Responder) -> Responder:
        """The app, with its 401s noted."""

    def note_current(self) -> None:
        """Note that the request being read was refused."""

    def close(self) -> None: ...


class Unrecorded:
    """Nobody asked for a record."""

    def over(self, app: Responder) -> Responder:
        return app

    def note_current(self) -> None:
        """Nothing is written down."""

    def close(self) -> None:
        """Nothing is open."""


def refusals_of(settings: Settings) -> Recorded:
    """Refused requests are recorded where calls are."""
    if not settings.audit_log:
        return Unrecorded()
    from toolyard.access.refusals import Refusals

    return Refusals(audit_file(settings))


def admit_of(settings: Settings, refusals: Recorded) -> Callable[[Message], Message] | None:
    """The remote token of mcp-bash, if one is set."""
    if not settings.remote_token:
        return None
    from toolyard.access.remote_token import RemoteToken

    keys = (settings.remote_token_key, settings.remote_token_fallback_key)
    failures = settings.remote_token_max_failures_per_min
    return RemoteToken(
        settings.remote_token,
        tuple(filter(None, keys)),
        failures,
        on_refusal=refusals.note_current,
    )


def accounts_of(settings: Settings, cluster: Cluster | None = None) -> Accounts:
    """Our accounts at other servers."""
    if cluster is None or cluster.store is None:
        from toolyard.access.oauth.vault import SealedVault

        return _accounts(settings, SealedVault(credentials_folder(settings)))
    from toolyard.access.oauth.cluster_vault import ClusterVault

    return _accounts(settings, ClusterVault(cluster.store, cluster.keys.seal("login")))


def _accounts(settings: Settings, vault: Vault) -> Accounts:
    from toolyard.access.oauth.accounts import Accounts

    return Accounts(vault, document_url=settings.client_metadata_url)


@asynccontextmanager
async def opened_accounts(settings: Settings) -> AsyncIterator[Accounts]:
    """For a command: those of the store, where one is named."""
    if not settings.store:
        yield accounts_of(settings)
        return
    from toolyard.access.oauth.cluster_vault import ClusterVault
    from toolyard.store.keys import read_cluster_keys
    from toolyard.store.opening import open_store

    keys = read_cluster_keys(settings.cluster_key)
    store = await open_store(settings.store)
    accounts = _accounts(settings, ClusterVault(store, keys.seal("login")))
    try:
        yield accounts
    finally:
        await accounts.close()
        await store.close()


class Logins:
    """The accounts of our callers at upstreams, made when the first upstream needs one."""

    def __init__(self, settings: Settings, cluster: Cluster | None = None) -> None:
        self._settings = settings
        self._cluster = cluster

    @cached_property
    def accounts(self) -> Accounts:
        return accounts_of(self._settings, self._cluster)

    async def close(self) -> None:
        if "accounts" in self.__dict__:
            await self.accounts.close()

    async def look(self, servers: Iterable[Server], caller: Caller) -> None:
        """Know the caller's logins, wherever they were made; where that fails, those known."""
        if self._cluster is None:
            return
        try:
            for server in servers:
                await self.accounts.account(server, caller).look()
        except (ConfigError, UpstreamError):
            pass  # a call there says what is wrong

    def login(self, server: Server, caller: Caller) -> str | None:
        """A name for the caller's login at a server; None if there is none."""
        try:
            return self.accounts.account(server, caller).login
        except ConfigError:
            return None  # a call there says what is wrong

    async def authorize(self, server: Server, caller: Caller) -> Mapping[str, str]:
        return await self.accounts.authorize(server, caller)

    async def on_challenge(self, server: Server, caller: Caller, challenge: Challenge) -> bool:
        return await self.accounts.on_challenge(server, caller, challenge)

    def asking(self, handler: Handler, find: Callable[[str], Server | None]) -> Handler:
        """The handler, which asks a person at this machine to log in if a server requires it."""

        async def ask(needed: LoginRequired, call: Call, channel: Channel) -> bool:
            from toolyard.access.oauth.asking import ask_to_log_in

            server = find(needed.server) if call.caller.id in AT_THIS_MACHINE else None
            if server is None:
                return False
            return await ask_to_log_in(self.accounts, server, call, channel, needed)

        return logging_in(handler, ask)


def credentials_folder(settings: Settings, environ: Mapping[str, str] = os.environ) -> str:
    if settings.credentials_dir:
        return os.path.expanduser(settings.credentials_dir)
    base = environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    return os.path.join(base, "toolyard", "credentials")


def permit_of(
    settings: Settings, policy: PolicyScript | None, *, deny_unnamed: bool
) -> Permit | None:
    """Which tools may be called: by the allowlist, or by a policy.sh with a check of its own.

    The policy replaces the default of the allowlist; a list that the operator wrote holds too.
    None where all of them may.
    """
    allow_list = allowlist(
        settings.tool_allowlist, settings.tool_allow_default, deny_unnamed=deny_unnamed
    )

    if policy is None and allow_list.otherwise:
        return None

    def permit(_call: Call, tool: Tool) -> Awaitable[None] | None:
        if policy is not None and tool.origin is not OURS:
            return ask_policy(policy, tool)
        if tool.origin.source == "project":
            allow_list.check(tool)
        return None

    async def ask_policy(policy: PolicyScript, tool: Tool) -> None:
        has_decided = await policy.permits(tool.name, {**tool.definition, **tool.extra})
        if tool.origin.source == "project" and (settings.tool_allowlist or not has_decided):
            allow_list.check(tool)

    return permit
