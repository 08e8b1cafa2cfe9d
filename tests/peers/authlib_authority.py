"""An authorization server made with Authlib and Flask, and an MCP server behind it.

    python -m tests.peers.authlib_authority --lifetime 5

Clients register themselves; a person allows or denies each login on its page, and takes it back
at `/account`. `/seen` is for tests.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import grants
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc9207 import IssuerParameter
from flask import Flask, current_app, redirect, render_template_string, request
from werkzeug.serving import make_server
from werkzeug.wrappers import Response

from tests.peers.authlib_store import Code, Ledger, RegisteredClient, Token
from tests.peers.protected import protected

USER = "grace"
CONSENT = """<!doctype html><html lang="en"><title>Authorize</title>
<h1>{{ client }} wants to use {{ resource }} as {{ user }}</h1>
<form method="post"><button name="answer" value="allow">Allow</button>
<button name="answer" value="deny">Deny</button></form>"""
ACCOUNT = """<!doctype html><html lang="en"><title>Account</title><h1>Programs you allowed</h1>
<p>{{ count }} allowed</p><form method="post"><button>Revoke all</button></form>"""


def ledger() -> Ledger:
    found: Ledger = current_app.config["LEDGER"]
    return found


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)

    def save_authorization_code(self, code: str, asked: Any) -> None:
        said = asked.payload.data
        ledger().codes[code] = Code(
            code, asked.client.client_id, said["redirect_uri"], said.get("scope", ""),
            said["resource"], said["code_challenge"], said["code_challenge_method"], asked.user,
        )  # fmt: skip

    def query_authorization_code(self, code: str, client: RegisteredClient) -> Code | None:
        found = ledger().codes.get(code)
        return found if found is not None and found.client_id == client.client_id else None

    def delete_authorization_code(self, code: Code) -> None:
        del ledger().codes[code.code]

    def authenticate_user(self, code: Code) -> str:
        return code.user


class RefreshGrant(grants.RefreshTokenGrant):
    """Each refresh token is good once."""

    TOKEN_ENDPOINT_AUTH_METHODS = ("none",)
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> Token | None:
        found = ledger().by_refresh(refresh_token)
        return found if found is not None and not found.revoked else None

    def authenticate_user(self, token: Token) -> str:
        return token.user

    def revoke_old_credential(self, token: Token) -> None:
        token.revoked = True


class S256(CodeChallenge):
    SUPPORTED_CODE_CHALLENGE_METHOD = ("S256",)


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ("none",)

    def query_token(self, token: str, hint: str | None) -> Token | None:
        return ledger().by_refresh(token) or ledger().by_access(token)

    def revoke_token(self, token: Token, asked: Any) -> None:
        token.revoked = True
        ledger().revocations.append(asked.form.get("token_type_hint", ""))


class Registration(ClientRegistrationEndpoint):
    def authenticate_token(self, asked: Any) -> str:
        return "anybody"

    def get_server_metadata(self) -> dict[str, Any]:
        return metadata(ledger().issuer)

    def generate_client_secret(self, asked: Any) -> str:
        return ""

    def save_client(
        self, info: dict[str, Any], said: dict[str, Any], asked: Any
    ) -> RegisteredClient:
        client = RegisteredClient(info["client_id"], said)
        ledger().clients[client.client_id] = client
        return client


class NamedIssuer(IssuerParameter):
    def get_issuer(self) -> str:
        return ledger().issuer


def save_token(told: dict[str, Any], asked: Any) -> None:
    form, client = asked.form, asked.client.client_id
    expires = time.time() + told["expires_in"]
    access, refresh, scope = told["access_token"], told["refresh_token"], told.get("scope", "")
    token = Token(access, refresh, client, scope, form["resource"], asked.user, expires)
    ledger().tokens.append(token)
    ledger().grants.append(form["grant_type"])


def metadata(issuer: str) -> dict[str, Any]:
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "registration_endpoint": f"{issuer}/register",
        "revocation_endpoint": f"{issuer}/revoke",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
    }


def server_of(app: Flask) -> AuthorizationServer:
    server = AuthorizationServer(app, lambda name: ledger().clients.get(name), save_token)
    server.register_grant(CodeGrant, [S256(required=True)])
    server.register_grant(RefreshGrant)
    server.register_endpoint(Revocation)
    server.register_endpoint(Registration)
    server.register_extension(NamedIssuer())
    return server


def make_app(lifetime: int) -> Flask:
    app = Flask(__name__)
    app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
    app.config["OAUTH2_TOKEN_EXPIRES_IN"] = dict.fromkeys(
        ("authorization_code", "refresh_token"), lifetime
    )
    server = server_of(app)
    views: dict[str, Callable[[], Any]] = {
        "/.well-known/oauth-authorization-server": lambda: metadata(ledger().issuer),
        "/register": lambda: server.create_endpoint_response("client_registration"),
        "/authorize": lambda: authorize(server),
        "/token": server.create_token_response,
        "/revoke": lambda: server.create_endpoint_response("revocation"),
        "/account": account,
        "/seen": lambda: {"grants": ledger().grants, "revocations": ledger().revocations},
    }
    for path, view in views.items():
        app.add_url_rule(path, path.strip("/.").replace(".", ""), view, methods=["GET", "POST"])
    return app


def authorize(server: AuthorizationServer) -> Any:
    try:
        grant = server.get_consent_grant(end_user=USER)
    except OAuth2Error as error:
        return server.handle_error_response(None, error)
    if request.method == "POST":
        user = USER if request.form["answer"] == "allow" else None
        return server.create_authorization_response(grant_user=user, grant=grant)
    name = grant.client.metadata["client_name"]
    resource = request.args["resource"]
    return render_template_string(CONSENT, client=name, resource=resource, user=USER)


def account() -> str | Response:
    if request.method == "POST":
        for token in ledger().live():
            token.revoked = True
        return redirect("/account")
    return render_template_string(ACCOUNT, count=len(ledger().live()))


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("--lifetime", type=int, default=3600)
    app = make_app(parser.parse_args().lifetime)
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # loopback has no TLS
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    kept = app.config["LEDGER"] = Ledger(f"http://127.0.0.1:{server.server_port}")
    with protected(kept) as upstream:
        print(f"{kept.issuer} guards {upstream.url}", file=sys.stderr, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
