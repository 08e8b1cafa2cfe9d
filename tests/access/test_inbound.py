"""Who is let in: static tokens, tokens of an issuer, and nobody else."""

from __future__ import annotations

import base64
import hashlib
import hmac
import random
import string
import time
from collections.abc import AsyncIterator
from typing import Any

import jwt
import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.peers.authority import Authority
from toolyard.access.callers import Authenticator, Unauthorized
from toolyard.access.inbound import Bearers
from toolyard.access.resource import ProtectedResource, read_resource
from toolyard.access.tokens import StaticToken, StaticTokens, hash_of, new_token, read_tokens
from toolyard.errors import ConfigError
from toolyard.protocol.call import Caller

URL = "https://tools.example/mcp"
TOKEN = new_token()


@pytest.fixture
def resource(issuer: Authority) -> ProtectedResource:
    return ProtectedResource(issuer.issuer, URL, URL, ("tools",))


@pytest.fixture
async def gate(resource: ProtectedResource) -> AsyncIterator[Authenticator]:
    static = StaticTokens([StaticToken("ci", hash_of(TOKEN))])
    yield Bearers(static, resource.tokens(), resource.hint)


async def refusal(gate: Authenticator, *authorization: str) -> Unauthorized:
    with pytest.raises(Unauthorized) as caught:
        await gate.caller(authorization)
    return caught.value


async def test_a_static_token_stands_for_its_name(gate: Authenticator) -> None:
    assert await gate.caller([f"Bearer {TOKEN}"]) == Caller("token:ci", "ci")
    assert await gate.caller([f"bearer   {TOKEN} "]) == Caller("token:ci", "ci")


async def test_a_token_that_has_expired_is_refused() -> None:
    gate = Bearers(StaticTokens([StaticToken("ci", hash_of(TOKEN), expires=time.time() - 1)]))
    refused = await refusal(gate, f"Bearer {TOKEN}")
    assert (refused.status, "invalid_token" in refused.challenge) == (401, True)


async def test_a_good_token_of_the_issuer_stands_for_its_subject(
    gate: Authenticator, issuer: Authority
) -> None:
    token = issuer.sign(aud=URL, scope="tools more", team="ops")
    for _ in range(2):  # verified, then remembered
        caller = await gate.caller([f"Bearer {token}"])
        assert (caller.id, caller.name) == (f"{issuer.issuer}|ada", "ada")
        assert caller.claims["team"] == "ops"
    assert issuer.site.count("/jwks") == 1


def forged(issuer: Authority) -> dict[str, str]:
    """Tokens that look right and are not."""
    now = int(time.time())
    good: dict[str, Any] = {"iss": issuer.issuer, "sub": "ada", "aud": URL, "scope": "tools"}
    other = ec.generate_private_key(ec.SECP256R1())
    public = issuer.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    whole = issuer.sign(**good)
    head, body, signature = whole.split(".")
    claims = {**good, "exp": now + 60}
    named = {"kid": issuer.kid}
    rsa_key = rsa.generate_private_key(65537, 2048)
    return {
        "another audience": issuer.sign(**{**good, "aud": "https://other.example/mcp"}),
        "no audience": issuer.sign(**{**good, "aud": None}),
        "another issuer": issuer.sign(**{**good, "iss": "https://evil.example"}),
        "no issuer": issuer.sign(**{**good, "iss": None}),
        "expired": issuer.sign(**good, exp=now - 3600),
        "without an end": issuer.sign(**good, exp=None),
        "not yet valid": issuer.sign(**good, nbf=now + 3600),
        "nobody": issuer.sign(**{**good, "sub": None}),
        "another key": jwt.encode(claims, other, algorithm="ES256", headers=named),
        "an unknown key": issuer.sign(**good, headers={"kid": "k2"}),
        "a strange key id": issuer.sign(**good, headers={"kid": "../../etc/passwd"}),
        "unsigned": jwt.encode(claims, "", algorithm="none", headers=named),
        "signed with the public key": _hmac(claims, public, named),
        "another algorithm": jwt.encode(claims, rsa_key, algorithm="RS256", headers=named),
        "changed": f"{head}.{body[:-2]}{'AA' if body[-2:] != 'AA' else 'BB'}.{signature}",
        "cut": f"{head}.{body}.",
        "a key of its own": _with_own_key(claims, other, named),
        "huge": issuer.sign(**good, filler="x" * 20_000),
    }


def _hmac(claims: dict[str, Any], secret: bytes, headers: dict[str, str]) -> str:
    """What a careless verifier would take: HS256 with the public key as the secret."""

    def packed(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    head = packed(orjson.dumps({"alg": "HS256", "typ": "JWT", **headers}))
    signed = f"{head}.{packed(orjson.dumps(claims))}"
    return f"{signed}.{packed(hmac.new(secret, signed.encode(), hashlib.sha256).digest())}"


def _with_own_key(
    claims: dict[str, Any], key: ec.EllipticCurvePrivateKey, h: dict[str, str]
) -> str:
    own = orjson.loads(jwt.algorithms.ECAlgorithm.to_jwk(key.public_key()))
    return jwt.encode(claims, key, algorithm="ES256", headers={**h, "jwk": own, "jku": "http://x"})


async def test_no_forged_token_is_let_in(gate: Authenticator, issuer: Authority) -> None:
    let_in = []
    for what, token in forged(issuer).items():
        try:
            await gate.caller([f"Bearer {token}"])
            let_in.append(what)
        except Unauthorized as refused:
            assert refused.status == 401, what
    assert let_in == []


@pytest.mark.parametrize("end", [10**400, "9999999999"])
async def test_an_end_that_is_an_odd_number_is_understood(
    gate: Authenticator, issuer: Authority, end: int | str
) -> None:
    token = issuer.sign(aud=URL, scope="tools", exp=end)
    for _ in range(2):  # verified, then remembered
        assert (await gate.caller([f"Bearer {token}"])).name == "ada"


async def test_too_few_rights_are_a_403_that_says_which_are_needed(
    gate: Authenticator, issuer: Authority
) -> None:
    refused = await refusal(gate, f"Bearer {issuer.sign(aud=URL, scope='other')}")
    assert refused.status == 403
    assert 'error="insufficient_scope"' in refused.challenge
    assert 'scope="tools"' in refused.challenge and "resource_metadata=" in refused.challenge


async def test_a_request_without_credentials_learns_where_to_get_some(gate: Authenticator) -> None:
    refused = await refusal(gate)
    assert refused.status == 401
    assert refused.challenge == (
        'Bearer resource_metadata="https://tools.example'
        '/.well-known/oauth-protected-resource/mcp", scope="tools"'
    )


async def test_a_thousand_malformed_headers_are_refused_each(gate: Authenticator) -> None:
    chance = random.Random(5)
    letters = string.printable + "\x00\xff\u20ac"
    for _ in range(1000):
        junk = "".join(chance.choices(letters, k=chance.randrange(0, 60)))
        scheme = chance.choice(
            ["Bearer ", "bearer ", "Basic ", "", "Bearer", "DPoP ", "Bearer a.b."]
        )
        headers = [scheme + junk] * chance.choice([1, 1, 1, 2, 3])
        assert (await refusal(gate, *headers)).status == 401


async def test_the_same_good_token_sent_twice_is_refused(gate: Authenticator) -> None:
    assert (await refusal(gate, f"Bearer {TOKEN}", f"Bearer {TOKEN}")).status == 401


async def test_a_new_key_of_the_issuer_is_fetched_and_made_up_ones_are_not(
    gate: Authenticator, issuer: Authority
) -> None:
    await gate.caller([f"Bearer {issuer.sign(aud=URL, scope='tools')}"])
    for number in range(50):
        made_up = issuer.sign(aud=URL, scope="tools", headers={"kid": f"x{number}"})
        await refusal(gate, f"Bearer {made_up}")
    assert issuer.site.count("/jwks") == 1


async def test_without_the_issuers_keys_nobody_is_let_in(
    gate: Authenticator, issuer: Authority
) -> None:
    issuer.overrides = {"issuer": "https://evil.example"}
    refused = await refusal(gate, f"Bearer {issuer.sign(aud=URL, scope='tools')}")
    assert refused.status == 503


@pytest.mark.parametrize(
    "entry, why",
    [
        ({"name": "a"}, "/tokens/0/hash"),
        ({"hash": hash_of("x")}, "/tokens/0/name"),
        ({"name": "a", "hash": "x" * 71}, "/tokens/0/hash"),
        ({"name": "a", "hash": hash_of("x"), "expires": "soon"}, "/tokens/0/expires"),
        ({"name": "a", "hash": hash_of("x"), "tools": "*"}, "/tokens/0/tools"),
        ({"name": "a", "hash": hash_of("x"), "tool": []}, "/tokens/0/tool"),
    ],
)
def test_a_mistake_in_a_token_is_named(entry: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=f"toolyard.json#{why}"):
        read_tokens([entry], "toolyard.json")


def test_two_tokens_of_one_name_are_a_mistake() -> None:
    twice = {"name": "a", "hash": hash_of("x")}
    with pytest.raises(ConfigError, match="two tokens"):
        read_tokens([twice, twice], "toolyard.json")


def test_who_is_given_some_tools_is_not_given_the_rest_in_silence() -> None:
    (token,) = read_tokens([{"name": "a", "hash": hash_of("x"), "tools": ["get_*"]}], "f")
    assert (token.tools, token.resources, token.prompts) == (("get_*",), (), ())


@pytest.mark.parametrize(
    "value", [{}, {"issuer": "x", "resource": URL}, {"issuer": URL, "resource": URL, "scopes": "a"}]
)
def test_a_mistake_in_the_issuer_is_named(value: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"toolyard.json#/oauth"):
        read_resource(value, "toolyard.json")
