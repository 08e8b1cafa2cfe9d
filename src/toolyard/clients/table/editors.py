"""Editors and desktop programs."""

from __future__ import annotations

from typing import Any

from toolyard.clients.known import JSONC, PLAIN, STRICT, TYPED, KnownClient

_VS_CODE: dict[str, Any] = {
    "form": JSONC,
    "container": ("servers",),
    "local": TYPED,
    "remote": {"type": "http", "url": "$url"},
}
_STORAGE = "User/globalStorage"

EDITORS = (
    KnownClient(
        "claude-desktop",
        "Claude Desktop",
        user=(
            "windows:LOCALAPPDATA/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
            "AS/Claude/claude_desktop_config.json",
            "linux:AS/claude/claude_desktop_config.json",
        ),
        form=STRICT,
        remote=None,
        after="Quit it entirely, from the tray too, before you link; then start it: it writes its "
        "file anew when it ends.",
    ),
    KnownClient(
        "cursor",
        "Cursor",
        user=("~/.cursor/mcp.json",),
        project=(".cursor/mcp.json",),
        local=TYPED,
        reference="${env:VAR}",
        install="cursor://anysphere.cursor-deeplink/mcp/install?name={name}&config={base64}",
        after="It reloads by itself; if not, restart it.",
    ),
    KnownClient(
        "vscode",
        "VS Code",
        user=(
            "$VSCODE_PORTABLE/user-data/User/mcp.json",
            "$VSCODE_APPDATA/Code/User/mcp.json",
            "AS/Code/User/mcp.json",
        ),
        project=(".vscode/mcp.json",),
        reference="${env:VAR}",
        install="vscode:mcp/install?{named}",
        after="Start the server from the file or the MCP view, and trust it once.",
        **_VS_CODE,
    ),
    KnownClient(
        "vscode-insiders",
        "VS Code Insiders",
        user=("AS/Code - Insiders/User/mcp.json",),
        project=(".vscode/mcp.json",),
        reference="${env:VAR}",
        install="vscode-insiders:mcp/install?{named}",
        after="Start the server from the file or the MCP view, and trust it once.",
        **_VS_CODE,
    ),
    KnownClient(
        "vscodium",
        "VSCodium",
        user=("AS/VSCodium/User/mcp.json",),
        project=(".vscode/mcp.json",),
        reference="${env:VAR}",
        after="Start the server from the file or the MCP view, and trust it once.",
        **_VS_CODE,
    ),
    KnownClient(
        "visual-studio",
        "Visual Studio",
        project=(".vs/mcp.json",),
        reference="${input:toolyard-token}",
        prompt={
            "inputs": {
                "id": "toolyard-token",
                "type": "promptString",
                "description": "Token of the Toolyard server",
                "password": True,
            }
        },
        install="vsweb+mcp:/install?{named}",
        after="It reloads by itself; tick the new tools, which are off at first.",
        **_VS_CODE,
    ),
    KnownClient(
        "devin",
        "Devin",
        user=("windows:APPDATA/devin/mcp_config.json", "~/.config/devin/mcp_config.json"),
        project=(".devin/mcp_config.json",),
        older=("~/.config/devin/config.json", "windows:APPDATA/devin/config.json"),
        url_means="auto",
    ),
    KnownClient(
        "windsurf",
        "Windsurf",
        user=("~/.codeium/windsurf/mcp_config.json",),
        older=("~/.codeium/mcp_config.json",),
        remote={"serverUrl": "$url"},
        reference="${env:VAR}",
        after="Press Refresh in its list of servers, or restart it.",
        url_means="auto",
    ),
    KnownClient(
        "cline",
        "Cline",
        user=(
            "$CLINE_MCP_SETTINGS_PATH",
            "$CLINE_DATA_DIR/settings/cline_mcp_settings.json",
            "$CLINE_DIR/data/settings/cline_mcp_settings.json",
            "~/.cline/data/settings/cline_mcp_settings.json",
            f"AS/Code/{_STORAGE}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            f"AS/Cursor/{_STORAGE}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        form=STRICT,
        remote={"type": "streamableHttp", "url": "$url"},
        reference="${env:VAR}",
        after="It notices by itself.",
        locks=True,
        url_means="sse",
        seconds=True,
    ),
    KnownClient(
        "roo",
        "Roo Code",
        user=(f"AS/Code/{_STORAGE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json",),
        project=(".roo/mcp.json",),
        form=STRICT,
        remote={"type": "streamable-http", "url": "$url"},
        reference="${env:VAR}",
        after="It notices by itself.",
        seconds=True,
    ),
    KnownClient(
        "zed",
        "Zed",
        user=(
            "windows:APPDATA/Zed/settings.json",
            "linux:$FLATPAK_XDG_CONFIG_HOME/zed/settings.json",
            "linux:CFG/zed/settings.json",
            "macos:~/.config/zed/settings.json",
        ),
        project=(".zed/settings.json",),
        container=("context_servers",),
        after="It reloads by itself.",
        seconds=True,
    ),
    KnownClient(
        "lmstudio",
        "LM Studio",
        user=(
            "@~/.lmstudio-home-pointer/mcp.json",
            "~/.lmstudio/mcp.json",
            "~/.cache/lm-studio/mcp.json",
        ),
        install="lmstudio://add_mcp?name={name}&config={base64}",
        after="Open the chat anew, or restart it.",
    ),
    KnownClient(
        "trae",
        "Trae",
        user=("AS/Trae/User/mcp.json", "AS/Trae CN/User/mcp.json", "AS/Trae/mcp.json"),
        project=(".trae/mcp.json",),
        install="trae://trae.ai-ide/mcp-import?type={type}&name={name}&config={base64}",
    ),
    KnownClient(
        "kiro",
        "Kiro",
        user=("~/.kiro/settings/mcp.json",),
        project=(".kiro/settings/mcp.json",),
        reference="${VAR}",
        install="kiro://kiro.mcp/add?name={name}&config={entry}",
        after="It reloads by itself; a variable must be among those it is allowed to use.",
    ),
    KnownClient(
        "anythingllm",
        "AnythingLLM",
        user=(
            "$STORAGE_DIR/plugins/anythingllm_mcp_servers.json",
            "AS/anythingllm-desktop/storage/plugins/anythingllm_mcp_servers.json",
        ),
        form=STRICT,
        remote={"type": "streamable", "url": "$url"},
        after="Press Refresh under Agent Skills.",
        url_means="sse",
    ),
    KnownClient(
        "junie",
        "Junie",
        user=("~/.junie/mcp/mcp.json",),
        project=(".junie/mcp/mcp.json",),
        local=PLAIN,
    ),
)
