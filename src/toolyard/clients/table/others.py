"""Clients with YAML, and those whose servers can be taken over but not written."""

from __future__ import annotations

from toolyard.clients.known import STRICT, TYPED, YAML, KnownClient
from toolyard.files.documents.yaml_text import YamlText

OTHERS = (
    KnownClient(
        "goose",
        "goose",
        user=(
            "$GOOSE_PATH_ROOT/config/config.yaml",
            "windows:APPDATA/Block/goose/config/config.yaml",
            "linux:CFG/goose/config.yaml",
            "macos:CFG/goose/config.yaml",
        ),
        form=YAML,
        container=("extensions",),
        local={
            "enabled": True,
            "type": "stdio",
            "name": "$name",
            "cmd": "$command",
            "args": "$args",
            "envs": "$env",
            "timeout": 300,
        },
        remote={
            "enabled": True,
            "type": "streamable_http",
            "name": "$name",
            "uri": "$url",
            "timeout": 300,
        },
        token={"env_keys": ["$variable"], "headers": {"Authorization": "$bearer"}},
        reference="${VAR}",
        names=r"[a-z0-9-]+",
        install="goose://extension?type=streamable_http&url={url}&id={name}&name={name}",
        after="Start a new session.",
        seconds=True,
    ),
    KnownClient(
        "continue",
        "Continue",
        user=(
            "$CONTINUE_GLOBAL_DIR/mcpServers/toolyard.yaml",
            "~/.continue/mcpServers/toolyard.yaml",
        ),
        project=(".continue/mcpServers/toolyard.yaml",),
        older=("~/.continue/config.yaml",),
        signs=("~/.continue",),
        form=YamlText(seed="name: toolyard\nversion: 0.0.1\nschema: v1\n"),
        key="name",
        local={"name": "$name", **TYPED},
        remote={"name": "$name", "type": "streamable-http", "url": "$url"},
        token={"requestOptions": {"headers": {"Authorization": "$bearer"}}},
        reference="${{ secrets.VAR }}",
        after="It reloads by itself.",
    ),
    KnownClient(
        "librechat",
        "LibreChat",
        user=("$CONFIG_PATH",),
        project=("librechat.yaml",),
        form=YAML,
        local=TYPED,
        remote={"type": "streamable-http", "url": "$url"},
        reference="${VAR}",
        after="Restart it. It does not call private addresses unless mcpSettings.allowedAddresses "
        "names them.",
        url_means="sse",
    ),
    KnownClient(
        "amp",
        "Amp",
        user=("~/.config/amp/settings.json", "~/.config/amp/settings.jsonc"),
        project=(".amp/settings.json", ".amp/settings.jsonc"),
        container=("amp.mcpServers",),
    ),
    KnownClient("tabnine", "Tabnine", older=("~/.tabnine/agent/settings.json",)),
    KnownClient("auggie", "Auggie", older=("~/.augment/settings.json",)),
    KnownClient("abacus", "Abacus", older=("~/.abacusai/mcp.json",)),
    KnownClient(
        "sema4",
        "Sema4 Studio",
        older=(
            "windows:LOCALAPPDATA/sema4ai/sema4ai-studio/mcp_servers.json",
            "~/.sema4ai/sema4ai-studio/mcp_servers.json",
        ),
    ),
    KnownClient(
        "amazonq", "Amazon Q", form=STRICT, older=("~/.aws/amazonq/mcp.json", ".amazonq/mcp.json")
    ),
)
