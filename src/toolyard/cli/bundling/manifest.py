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
    """What a bundle holds, and which systems it is for: all that a manifest is made from."""

    name: str
    version: str
    meta: Mapping[str, object]  # server.meta.json
    tools: Sequence[JsonObject] = ()
    prompts: Sequence[JsonObject] = ()
    has_programs: bool = False  # some prompts are programs
    platforms: Sequence[str] = ()
    python: str = ">=3.11"
    registry: bool = True  # the registry files are inside
    movable: bool = True  # and they are valid elsewhere too: they name no place
    icon: str | None = None
    long_description: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def static(self) -> bool:
        """Is what the server lists known from the files?"""
        return self.registry and self.movable


def manifest(bundle: Bundled, version: str) -> JsonObject:
    meta = bundle.meta
    content: JsonObject = {
        "manifest_version": version,
        "name": bundle.name,
        "display_name": meta.get("title") or bundle.name,
        "version": bundle.version,
        "description": meta.get("description") or f"Tools of {bundle.name}",
        "long_description": bundle.long_description,
        "author": _author(meta.get("author")),
        "repository": _repository(meta.get("repository")),
        "icon": bundle.icon,
        "icons": _icons(meta.get("icons")),
        "screenshots": _screenshots(meta.get("screenshots")),
        "server": _server(bundle, version),
        "tools": [_tool(tool) for tool in bundle.tools],
        "tools_generated": None if bundle.static else True,
        "prompts": list(bundle.prompts),
        "prompts_generated": True if bundle.has_programs or not bundle.static else None,
        "compatibility": _compatibility(bundle),
        **{field: meta.get(field) for field in _SAME},
    }
    return {key: value for key, value in content.items() if value not in (None, [], {})}


def _server(bundle: Bundled, version: str) -> JsonObject:
    env = {**_environment(bundle), **bundle.env}
    extra = _mapped(bundle, "user_config_args_map")
    if version == "0.3":
        config: JsonObject = {"command": "python3", "args": [f"{FOLDER}/{ENTRY}", *extra.values()]}
    else:
        run = ["run", "--directory", FOLDER, ENTRY]
        config = {"command": "uv", "args": [*run, *extra.values()]}
    kind = "python" if version == "0.3" else "uv"
    config = {**config, "env": env}
    overrides = bundle.meta.get("platform_overrides")
    if isinstance(overrides, dict) and overrides:
        config["platform_overrides"] = overrides
    return {"type": kind, "entry_point": ENTRY, "mcp_config": config}


def _environment(bundle: Bundled) -> dict[str, str]:
    env = {"MCPBASH_PROJECT_ROOT": f"{FOLDER}/{PROJECT}"}
    if bundle.static:
        env["MCPBASH_STATIC_REGISTRY"] = "1"
    variables = {
        variable: f"${{user_config.{key}}}"
        for key, variable in _texts(bundle.meta.get("user_config_env_map")).items()
    }
    if variables:
        # Tools see little of the environment, and what the user configures is meant for them.
        env["MCPBASH_TOOL_ENV_MODE"] = "allowlist"
        env["MCPBASH_TOOL_ENV_ALLOWLIST"] = " ".join(variables)
    return {**env, **variables}


def _mapped(bundle: Bundled, name: str) -> dict[str, str]:
    value = bundle.meta.get(name)
    keys = value if isinstance(value, list) else list(_texts(value))
    return {str(key): f"${{user_config.{key}}}" for key in keys}


def _texts(value: object) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def _author(value: object) -> JsonObject:
    if isinstance(value, str):
        return {"name": value}
    fields = value if isinstance(value, dict) else {}
    return {"name": "unknown", **{k: fields[k] for k in ("name", "email", "url") if fields.get(k)}}


def _repository(value: object) -> JsonObject | None:
    if isinstance(value, str):
        return {"type": "git", "url": value}
    return value if isinstance(value, dict) else None


def _icons(value: object) -> list[object]:
    """Icons that are files are beside server.meta.json."""
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


def _compatibility(bundle: Bundled) -> JsonObject:
    value = bundle.meta.get("compatibility")
    fields = value if isinstance(value, dict) else {}
    runtimes = {"python": bundle.python, **(fields.get("runtimes") or {})}
    return {**fields, "platforms": list(bundle.platforms), "runtimes": runtimes}
