"""A machine with eight clients that have thirty servers between them, each in its own words."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

PYTHON = sys.executable
LITTLE = str(Path(__file__).with_name("little.py"))
SECRETS = {
    "github": "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "other github": "ghp_zyxwvutsrqponmlkjihgfedcba9876543210",
    "stripe": "sk-live-51H8abcdefGHIJKL",
    "linear": "lin_api_AbCdEf0123456789",
    "header": "s3cr3t-header-value-000111",
    "query": "q-9f8e7d6c5b4a3210",
    "argument": "xoxb-1234-5678-abcdefghijkl",
    "dsn": "postgres://app:hunter2hunter2@db.example/main",
    "bridge": "bridge-token-4455667788",
}


def local(name: str, *words: str) -> tuple[str, list[str]]:
    return PYTHON, [LITTLE, name, *words]


def std(name: str, *words: str, **env: str) -> dict[str, Any]:
    command, args = local(name, *words)
    return {"command": command, "args": args, **({"env": env} if env else {})}


GITHUB = std("github", GITHUB_TOKEN=SECRETS["github"])
FILES, MEMORY = std("files", "/srv"), std("memory")


def write(home: Path, path: str, text: str) -> None:
    file = home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def toml(entry: dict[str, Any]) -> str:
    env = entry.get("env", {})
    lines = [f"command = {json.dumps(entry['command'])}", f"args = {json.dumps(entry['args'])}"]
    inline = ", ".join(f"{key} = {json.dumps(value)}" for key, value in env.items())
    return "\n".join([*lines, f"env = {{ {inline} }}"] if env else lines)


def claude_desktop(home: Path) -> None:
    write(  # 5
        home,
        ".config/Claude/claude_desktop_config.json",
        json.dumps(
            {
                "mcpServers": {
                    "github": GITHUB,
                    "filesystem": FILES,
                    "memory": MEMORY,
                    "stripe": std("stripe", f"--api-key={SECRETS['stripe']}"),
                    "odd": {"command": "cmd", "args": ["/c", PYTHON, LITTLE, "odd", "${NOT_MINE}"]},
                }
            }
        ),
    )


def cursor(home: Path) -> None:
    write(  # 5
        home,
        ".cursor/mcp.json",
        "{\n  // the same again\n"
        + json.dumps(
            {
                "mcpServers": {
                    "github": {"type": "stdio", **GITHUB},
                    "fs": FILES,
                    "linear": std("linear", LINEAR_API_KEY=SECRETS["linear"]),
                    "remote": {
                        "url": "https://tools.example/mcp",
                        "headers": {
                            "Authorization": "Bearer ${env:REMOTE_TOKEN}",
                            "X-Api-Key": SECRETS["header"],
                        },
                    },
                    "off": {**std("off"), "disabled": True},
                }
            }
        )[1:-1]
        + ",\n}\n",
    )


def vscode(home: Path) -> None:
    write(  # 4
        home,
        ".config/Code/User/mcp.json",
        json.dumps(
            {
                "inputs": [{"id": "db-url", "type": "promptString", "password": True}],
                "servers": {
                    "memory": {"type": "stdio", **MEMORY},
                    "database": {"type": "stdio", **std("database", "${input:db-url}")},
                    "remote": {
                        "type": "http",
                        "url": "https://TOOLS.example:443/mcp/",
                        "headers": {
                            "Authorization": "Bearer ${env:REMOTE_TOKEN}",
                            "X-Api-Key": SECRETS["header"],
                        },
                    },
                    "files": {"type": "stdio", **FILES},
                },
            },
            indent="\t",
        ),
    )


def claude_code(home: Path) -> None:
    write(  # 4, one of them in a project and one switched off outside of its entry
        home,
        ".claude.json",
        json.dumps(
            {
                "numStartups": 3,
                "mcpServers": {
                    "github": {
                        "type": "stdio",
                        **std("github", GITHUB_TOKEN=SECRETS["other github"]),
                    },
                    "query": {"type": "sse", "url": f"http://q.example/sse?key={SECRETS['query']}"},
                    "toolyard": {"command": "/usr/bin/toolyard", "args": ["serve", "/srv"]},
                },
                "projects": {
                    "/srv/app": {"mcpServers": {"local": {"type": "stdio", **std("app")}}}
                },
            }
        ),
    )


def codex(home: Path) -> None:
    write(  # 3
        home,
        ".codex/config.toml",
        f"model = 'x'\n\n[mcp_servers.memory]\n{toml(MEMORY)}\n\n"
        f"[mcp_servers.slack]\n{toml(std('slack', '--token', SECRETS['argument']))}\n"
        "enabled = false\ntool_timeout_sec = 30\n\n"
        "[mcp_servers.hosted]\nurl = 'https://hosted.example/mcp'\n"
        "bearer_token_env_var = 'HOSTED_TOKEN'\n",
    )


def goose(home: Path) -> None:
    write(  # 3
        home,
        ".config/goose/config.yaml",
        "extensions:\n  # built in\n  developer:\n    type: builtin\n    enabled: true\n"
        f"  github:\n    type: stdio\n    enabled: true\n    cmd: {PYTHON}\n"
        f"    args: [{LITTLE}, github]\n    envs:\n      GITHUB_TOKEN: {SECRETS['github']}\n"
        f"  time:\n    type: stdio\n    enabled: true\n    timeout: 60\n    cmd: {PYTHON}\n"
        f"    args: [{LITTLE}, time]\n",
    )


def opencode(home: Path) -> None:
    write(  # 3
        home,
        ".config/opencode/opencode.jsonc",
        json.dumps(
            {
                "mcp": {
                    "memory": {"type": "local", "command": [PYTHON, LITTLE, "memory"]},
                    "hosted": {
                        "type": "remote",
                        "url": "https://hosted.example/mcp",
                        "headers": {"Authorization": "Bearer {env:HOSTED_TOKEN}"},
                    },
                    "postgres": {
                        "type": "local",
                        "command": [PYTHON, LITTLE, "postgres", SECRETS["dsn"]],
                        "environment": {"PG_TOKEN": "YOUR_TOKEN_HERE"},
                    },
                }
            }
        ),
    )


def gemini(home: Path) -> None:
    write(  # 3
        home,
        ".gemini/settings.json",
        json.dumps(
            {
                "mcp": {"excluded": ["later"]},
                "mcpServers": {
                    "later": std("later"),
                    "bridge": {
                        "command": "npx",
                        "args": [
                            *("-y", "mcp-remote", "https://bridge.example/mcp"),
                            *("--header", f"X-Token: {SECRETS['bridge']}"),
                        ],
                    },
                    "files": {**FILES, "timeout": 5000, "includeTools": ["files-tool"]},
                },
            }
        ),
    )


def furnish(home: Path) -> None:
    """Thirty servers in eight clients."""
    for client in (
        claude_desktop,
        cursor,
        vscode,
        claude_code,
        codex,
        goose,
        opencode,
        gemini,
    ):
        client(home)
