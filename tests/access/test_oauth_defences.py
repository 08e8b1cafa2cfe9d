"""What an authorization server, or somebody in its place, cannot talk us into."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest

from tests.access.test_whole_way import Hours, logged_in
from tests.peers.authority import Authority, authority
from tests.peers.protected import Protected
from tests.peers.web import Answer
from toolyard.access.oauth.accounts import Accounts
from toolyard.access.oauth.browser import Headless, Loopback, query_of
from toolyard.access.oauth.errors import OAuthError, OAuthRefusal
from toolyard.access.oauth.issuer.challenge import Wanted, read_challenge
from toolyard.access.oauth.issuer.clients import OAuthClient
from toolyard.access.oauth.issuer.discovery import Found, discover
from toolyard.access.oauth.issuer.metadata import (
    AuthorizationServer,
    covers,
    issuer_urls,
    resource_urls,
)
from toolyard.access.oauth.login import Login
from toolyard.access.oauth.vault import MemoryVault
from toolyard.http.fetching.fetch import GuardedFetch
from toolyard.protocol.call import Caller
from toolyard.upstreams.definition import ServerDefinition

ISSUER = AuthorizationServer(
    "https://as.example", "https://as.example/authorize", "https://as.example/token"
)
SAFE = replace(ISSUER, challenge_methods=("S256",), names_itself=True)


def login(issuer: AuthorizationServer = SAFE) -> Login:
    found = Found(issuer, "https://mcp.example/mcp")
    return Login(found, OAuthClient("me", issuer.issuer), "http://127.0.0.1:1/callback", ("read",))


async def logs_in(server: ServerDefinition, accounts: Accounts | None = None) -> None:
    accounts = accounts or Accounts(MemoryVault())
    browser = Headless(GuardedFetch(server.url or ""))
    wanted = await accounts.wanted_by(server)
    await accounts.account(server, Caller()).log_in(wanted, browser)


@pytest.mark.parametrize("methods", [None, [], ["plain"]])
async def test_without_pkce_s256_nobody_is_sent_to_log_in(
    issuer: Authority, server: ServerDefinition, methods: list[str] | None
) -> None:
    issuer.challenge_methods = methods
    with pytest.raises(OAuthError, match="PKCE"):
        await logs_in(server)
    assert issuer.site.count("/authorize") == 0


@pytest.mark.parametrize("advertised", [True, False])
@pytest.mark.parametrize("iss", ["https://evil.example", "{issuer}/", ""])
async def test_an_answer_of_another_issuer_costs_no_code(
    issuer: Authority, server: ServerDefinition, iss: str, advertised: bool
) -> None:
    issuer.iss, issuer.iss_advertised = iss.format(issuer=issuer.issuer), advertised
    with pytest.raises(OAuthError, match="another issuer"):
        await logs_in(server)
    assert issuer.site.count("/token") == 0


async def test_an_answer_without_its_promised_issuer_costs_no_code(
    issuer: Authority, server: ServerDefinition
) -> None:
    issuer.iss = "absent"
    with pytest.raises(OAuthError, match="does not name its issuer"):
        await logs_in(server)
    assert issuer.site.count("/token") == 0
    issuer.iss_advertised = False
    await logs_in(server)


def test_an_answer_to_another_login_is_refused() -> None:
    mine, other = login(), login()
    for state in (other.state, "", mine.state[:-1]):
        with pytest.raises(OAuthError, match="state"):
            mine.code_in({"state": state, "code": "c", "iss": "https://as.example"})
    answer = {"state": mine.state, "iss": "https://as.example"}
    assert mine.code_in({**answer, "code": "c"}) == "c"
    with pytest.raises(OAuthRefusal, match="access_denied"):
        mine.code_in({**answer, "error": "access_denied"})
    with pytest.raises(OAuthError, match="another issuer"):
        mine.code_in({**answer, "iss": "https://evil.example", "error": "access_denied"})


@pytest.mark.parametrize("endpoint", ["javascript:alert(1)", "file:///etc/passwd", "", "$(id)"])
def test_only_web_urls_are_ever_opened(endpoint: str) -> None:
    with pytest.raises(OAuthError):
        _ = login(replace(SAFE, authorization_endpoint=endpoint)).url


async def test_a_browser_is_shown_no_other_url_either() -> None:
    shown: list[str] = []
    browser = Loopback(shown.append)
    await browser.ready()
    with pytest.raises(OAuthError):
        await browser.visit("file:///etc/passwd")
    await browser.close()
    assert shown == []


def test_the_login_url_says_what_the_token_is_for() -> None:
    query = query_of(login().url)
    assert query["resource"] == "https://mcp.example/mcp"
    assert (query["code_challenge_method"], query["scope"]) == ("S256", "read")


@pytest.mark.parametrize(
    "said",
    [
        {"resource": "https://evil.example/mcp"},
        {"resource": "http://127.0.0.1:1/mcp"},
        {"authorization_servers": []},
        {"resource": None},
    ],
)
async def test_metadata_about_another_resource_is_refused(
    issuer: Authority, upstream: Protected, server: ServerDefinition, said: dict[str, object]
) -> None:
    upstream.metadata = said
    with pytest.raises(OAuthError):
        await logs_in(server)
    assert issuer.site.asked == []


async def test_metadata_of_another_issuer_is_refused(
    issuer: Authority, server: ServerDefinition
) -> None:
    issuer.overrides = {"issuer": "https://attacker.example"}
    with pytest.raises(OAuthError, match="another issuer"):
        await logs_in(server)
    assert issuer.site.paths() == ["/.well-known/oauth-authorization-server"]


async def test_what_one_issuer_gave_is_never_shown_to_another(
    issuer: Authority, upstream: Protected, server: ServerDefinition
) -> None:
    store, clock = MemoryVault(), Hours()
    await logged_in(store, server, clock)
    with authority() as newer:
        upstream.authority = newer
        accounts = Accounts(store, clock=clock, browser=Headless)
        clock.now += 60
        refused = type("Refusal", (), {"status": 401, "header": ""})()
        assert await accounts.on_challenge(server, Caller(), refused)
        assert newer.site.count("/register") == 1
        sent = b"".join(asked.body for asked in newer.site.asked).decode()
        kept = store.get(f"client {issuer.issuer}")
        assert kept is not None and kept["id"] not in sent


async def test_a_client_of_the_registry_is_used_at_its_own_issuer_only(
    issuer: Authority, upstream: Protected
) -> None:
    oauth = {"clientId": "me", "clientSecret": "hush", "issuer": "https://other.example"}
    server = ServerDefinition("acme", url=upstream.url, auth="oauth", oauth=oauth)
    with pytest.raises(OAuthError, match="belongs to https://other"):
        await logs_in(server)
    assert all(b"hush" not in asked.body for asked in issuer.site.asked)


async def test_a_failing_metadata_server_is_not_taken_for_an_old_one(
    upstream: Protected, server: ServerDefinition
) -> None:
    upstream.site.routes["/.well-known/oauth-protected-resource/mcp"] = lambda asked: Answer(503)
    with pytest.raises(OAuthError, match="503"):
        await discover(GuardedFetch(upstream.url), upstream.url, Wanted())


async def test_nothing_secret_is_ever_logged(
    server: ServerDefinition, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "toolyard")
    logging.getLogger("toolyard").propagate = True
    store, clock = MemoryVault(), Hours()
    await logged_in(store, server, clock)
    grant = Accounts(store, clock=clock).account(server, Caller()).grant
    assert grant is not None
    told = caplog.text + repr(grant) + str(grant) + repr(grant.client) + repr(login())
    for secret in (grant.access, grant.refresh):
        assert secret and secret not in told


@pytest.mark.parametrize(
    "header, expected",
    [
        ("Bearer", Wanted()),
        ("", Wanted()),
        (
            'Bearer scope="a b", error="insufficient_scope"',
            Wanted(("a", "b"), None, "insufficient_scope"),
        ),
        ('Basic realm="x", Bearer resource_metadata="https://a/b"', Wanted((), "https://a/b")),
        ('bearer error=invalid_token , scope = "a"', Wanted(("a",), None, "invalid_token")),
        ('Bearer realm="a \\"b\\"", scope="c"', Wanted(("c",))),
        ('Digest realm="Bearer scope=x", qop="auth"', Wanted()),
        ('Bearer scope="' + "x" * 20_000, Wanted()),
    ],
)
def test_challenges_are_read_as_they_are_written(header: str, expected: Wanted) -> None:
    assert read_challenge(header) == expected


def test_metadata_is_looked_for_in_the_order_of_the_specification() -> None:
    assert resource_urls("https://a.example/x/mcp", None) == [
        "https://a.example/.well-known/oauth-protected-resource/x/mcp",
        "https://a.example/.well-known/oauth-protected-resource",
    ]
    assert issuer_urls("https://a.example/t1") == [
        "https://a.example/.well-known/oauth-authorization-server/t1",
        "https://a.example/.well-known/openid-configuration/t1",
        "https://a.example/t1/.well-known/openid-configuration",
    ]
    assert issuer_urls("https://a.example/") == issuer_urls("https://a.example")


@pytest.mark.parametrize(
    "resource, fits",
    [
        ("https://a.example/x", True),
        ("https://a.example", True),
        ("https://a.example/x/mcp/", True),
        ("https://a.example/xy", False),
        ("https://a.example/x/mcp/deeper", False),
        ("http://a.example/x/mcp", False),
        ("https://a.example:444/x/mcp", False),
        ("https://b.example/x/mcp", False),
        ("https://a.example:bad/", False),
    ],
)
def test_a_resource_covers_what_is_below_it(resource: str, fits: bool) -> None:
    assert covers(resource, "https://a.example/x/mcp") is fits
