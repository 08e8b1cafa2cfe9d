"""The manifest of an MCPB bundle, in versions 0.3 and 0.4. Knows JSON, touches no file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from toolyard.protocol.call import JsonObject

FOLDER = "${__dirname}"
# The project's files, and beside them, hidden, the program that serves them.
PROJECT = "server"
PROGRAM = f"{PROJECT}/.toolyard"
ENTRY = f"{PROGRAM}/main.py"
# Fields of server.meta.json that a manifest has under the same name.
_SAME = (
    "keywords",
    "homepage",
    "documentation",
    "support",
    "privacy_policies",
    "license",
    "localization",
    "user_config",
    "_meta",
)


@dataclass(frozen=True, slots=True)
class Bundled:
    """What is in a bundle, and for whom."""

    name: str
    version: str
    meta: Mapping[str, object]  # server.meta.json
    tools: Sequence[JsonObject] = ()
    prompts: Sequence[JsonObject] = ()
    has_programs: bool = False  # prompts that are made when they are asked for
    platforms: Sequence[str] = ()
    python: str = ">=3.11"
    registry: bool = True  # the registry files are inside
    movable: bool = True  # and hold elsewhere too: nothing in them names a place
    icon: str | None = None
    long_description: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def static(self) -> bool:
        """What is listed is what the files say."""
        return self.registry and self.movable


def manifest(bundled: Bundled, version: str) -> JsonObject:
    meta = bundled.meta
    content: JsonObject = {
        "manifest_version": version,
        "name": bundled.name,
        "display_name": meta.get("title") or bundled.name,
        "version": bundled.version,
        "description": meta.get("description") or f"Tools of {bundled.name}",
        "long_description": bundled.long_description,
        "author": _author(meta.get("author")),
        "repository": _repository(meta.get("repository")),
        "icon": bundled.icon,
        "icons": _icons(meta.get("icons")),
        "screenshots": _screenshots(meta.get("screenshots")),
        "server": _server(bundled, version),
        "tools": [_tool(tool) for tool in bundled.tools],
        "tools_generated": None if bundled.static else True,
        "prompts": list(bundled.prompts),
        "prompts_generated": True if bundled.has_programs or not bundled.static else None,
        "compatibility": _compatibility(bundled),
        **{field: meta.get(field) for field in _SAME},
    }
    return {key: value for key, value in content.items() if value not in (None, [], {})}


def _server(bundled: Bundled, version: str) -> JsonObject:
    env = {**_environment(bundled), **bundled.env}
    extra = _mapped(bundled, "user_config_args_map")
    if version == "0.3":
        config: JsonObject = {"command": "python3", "args": [f"{FOLDER}/{ENTRY}", *extra.values()]}
    else:
        run = ["run", "--directory", FOLDER, ENTRY]
        config = {"command": "uv", "args": [*run, *extra.values()]}
    kind = "python" if version == "0.3" else "uv"
    config = {**config, "env": env}
    overrides = bundled.meta.get("platform_overrides")
    if isinstance(overrides, dict) and overrides:
        config["platform_overrides"] = overrides
    return {"type": kind, "entry_point": ENTRY, "mcp_config": config}


def _environment(bundled: Bundled) -> dict[str, str]:
    env = {"MCPBASH_PROJECT_ROOT": f"{FOLDER}/{PROJECT}"}
    if bundled.static:
        env["MCPBASH_STATIC_REGISTRY"] = "1"
    configured = {
        variable: f"${{user_config.{key}}}"
        for key, variable in _texts(bundled.meta.get("user_config_env_map")).items()
    }
    if configured:
        # Tools see little of the environment: what the user configured is meant for them.
        env["MCPBASH_TOOL_ENV_MODE"] = "allowlist"
        env["MCPBASH_TOOL_ENV_ALLOWLIST"] = " ".join(configured)
    return {**env, **configured}


def _mapped(bundled: Bundled, name: str) -> dict[str, str]:
    stated = bundled.meta.get(name)
    keys = stated if isinstance(stated, list) else list(_texts(stated))
    return {str(key): f"${{user_config.{key}}}" for key in keys}


def _texts(value: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def _author(value: object) -> JsonObject:
    if isinstance(value, str):
        return {"name": value}
    known = value if isinstance(value, dict) else {}
    return {"name": "unknown", **{k: known[k] for k in ("name", "email", "url") if known.get(k)}}


def _repository(value: object) -> JsonObject | None:
    if isinstance(value, str):
        return {"type": "git", "url": value}
    return value if isinstance(value, dict) else None


def _icons(value: object) -> list[object]:
    """Icons that are files lie beside server.meta.json."""
    icons = value if isinstance(value, list) else []
    return [_moved(icon) if isinstance(icon, dict) else icon for icon in icons]


def _moved(icon: JsonObject) -> JsonObject:
    source = icon.get("src")
    if not isinstance(source, str) or ":" in source.partition("/")[0]:
        return icon
    return {**icon, "src": f"{PROJECT}/server.d/{source.removeprefix('./')}"}


def _screenshots(value: object) -> list[object]:
    shots = value if isinstance(value, list) else []
    return [
        shot if not isinstance(shot, str) or "://" in shot else f"{PROJECT}/{shot}"
        for shot in shots
    ]


def _tool(definition: JsonObject) -> JsonObject:
    tool: JsonObject = {"name": definition["name"]}
    if definition.get("description"):
        tool["description"] = definition["description"]
    return tool


def _compatibility(bundled: Bundled) -> JsonObject:
    stated = bundled.meta.get("compatibility")
    known = stated if isinstance(stated, dict) else {}
    runtimes = {"python": bundled.python, **(known.get("runtimes") or {})}
    return {**known, "platforms": list(bundled.platforms), "runtimes": runtimes}
