"""What each client reads for a server named demo: by its own documentation, not by our table."""

from __future__ import annotations

from typing import Any

CMD, PROJ, URL = "/opt/bin/toolyard", "/srv/demo", "http://127.0.0.1:8080/mcp"
ARGS = ["serve", PROJ]
STD = {"command": CMD, "args": ARGS}
STDIO = {"type": "stdio", **STD}


def bearer(reference: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {reference}"}}


BRACED, ENV = bearer("${TOOLYARD_TOKEN}"), bearer("${env:TOOLYARD_TOKEN}")


def servers(entry: dict[str, Any], container: str = "mcpServers") -> dict[str, Any]:
    return {container: {"demo": entry}}


HTTP = {"type": "http", "url": URL}
OPENCODE = (
    servers({"type": "local", "command": [CMD, *ARGS], "enabled": True}, "mcp"),
    servers(
        {"type": "remote", "url": URL, **bearer("{env:TOOLYARD_TOKEN}"), "oauth": False}, "mcp"
    ),
)
CODE = (servers(STDIO, "servers"), servers({**HTTP, **ENV}, "servers"))
CONTINUE = {"name": "toolyard", "version": "0.0.1", "schema": "v1"}
INPUT = {
    "id": "toolyard-token",
    "type": "promptString",
    "description": "Token of the Toolyard server",
    "password": True,
}
GOOSE = {"enabled": True, "name": "demo", "timeout": 300}
# Client -> the document with a local server, and with a remote one and a token; None: refused.
SAMPLES: dict[str, tuple[dict[str, Any], dict[str, Any] | None]] = {
    "claude-desktop": (servers(STD), None),
    "claude-code": (servers(STDIO), servers({**HTTP, **BRACED})),
    "cursor": (servers(STDIO), servers({"url": URL, **ENV})),
    "vscode": CODE,
    "vscode-insiders": CODE,
    "vscodium": CODE,
    "copilot-cli": (
        servers({"type": "local", **STD, "tools": ["*"]}),
        servers({**HTTP, "tools": ["*"], **BRACED}),
    ),
    "visual-studio": (
        servers(STDIO, "servers"),
        {
            **servers({**HTTP, **bearer("${input:toolyard-token}")}, "servers"),
            "inputs": [INPUT],
        },
    ),
    "devin": (servers(STD), None),
    "windsurf": (servers(STD), servers({"serverUrl": URL, **ENV})),
    "cline": (servers(STD), servers({"type": "streamableHttp", "url": URL, **ENV})),
    "roo": (servers(STD), servers({"type": "streamable-http", "url": URL, **ENV})),
    "kilo": OPENCODE,
    "codex": (
        servers(STD, "mcp_servers"),
        servers({"url": URL, "bearer_token_env_var": "TOOLYARD_TOKEN"}, "mcp_servers"),
    ),
    "grok": (servers(STD, "mcp_servers"), servers({"url": URL, **BRACED}, "mcp_servers")),
    "vibe": (
        {"mcp_servers": [{"name": "demo", "transport": "stdio", "command": [CMD], "args": ARGS}]},
        {
            "mcp_servers": [
                {
                    "name": "demo",
                    "transport": "streamable-http",
                    "url": URL,
                    "auth": {
                        "type": "static",
                        "api_key_env": "TOOLYARD_TOKEN",
                        "api_key_header": "Authorization",
                        "api_key_format": "Bearer {token}",
                    },
                }
            ]
        },
    ),
    "gemini": (servers(STD), servers({**HTTP, **BRACED})),
    "antigravity": (servers(STD), None),
    "qwen": (servers(STD), servers({"httpUrl": URL, **BRACED})),
    "zed": (servers(STD, "context_servers"), None),
    "opencode": OPENCODE,
    "crush": (servers(STDIO, "mcp"), servers({**HTTP, **bearer("$TOOLYARD_TOKEN")}, "mcp")),
    "goose": (
        servers({**GOOSE, "type": "stdio", "cmd": CMD, "args": ARGS}, "extensions"),
        servers(
            {
                **GOOSE,
                "type": "streamable_http",
                "uri": URL,
                "env_keys": ["TOOLYARD_TOKEN"],
                **BRACED,
            },
            "extensions",
        ),
    ),
    "continue": (
        {**CONTINUE, "mcpServers": [{"name": "demo", **STDIO}]},
        {
            **CONTINUE,
            "mcpServers": [
                {
                    "name": "demo",
                    "type": "streamable-http",
                    "url": URL,
                    "requestOptions": bearer("${{ secrets.TOOLYARD_TOKEN }}"),
                }
            ],
        },
    ),
    "librechat": (servers(STDIO), servers({"type": "streamable-http", "url": URL, **BRACED})),
    "amp": (servers(STD, "amp.mcpServers"), None),
    "lmstudio": (servers(STD), None),
    "kiro": (servers(STD), servers({"url": URL, **BRACED})),
    "trae": (servers(STD), None),
    "kimi": (servers(STD), servers({"url": URL, "bearerTokenEnvVar": "TOOLYARD_TOKEN"})),
    "factory": (servers(STDIO), servers({**HTTP, **BRACED})),
    "qoder": (servers(STDIO), servers({**HTTP, **BRACED})),
    "anythingllm": (servers(STD), None),
    "junie": (servers(STD), None),
}
