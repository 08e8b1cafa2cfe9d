"""What the soak runs against: a project of scripts, and the upstreams of its registry."""

from __future__ import annotations

import json
import sys
from pathlib import Path

SCRIPT = """#!/usr/bin/env bash
case "$MCP_TOOL_ARGS_JSON" in
  *'"slow":true'*) sleep 30 & wait ;;
esac
printf '%s' "$MCP_TOOL_ARGS_JSON"
"""
# Gives back what it was called with; some calls late, so that others overtake them, and a slow one
# so late that it must be cancelled.
UPSTREAM = r"""
import json, os, sys, threading
writing, waiting = threading.Lock(), {}
def say(message):
    with writing:
        os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
def give_back(asked):
    waiting.pop(asked["id"], None)
    given = asked["params"].get("arguments", {})
    say({"id": asked["id"], "result": {"content": [{"type": "text", "text": json.dumps(given)}]}})
def call(asked):
    given = asked["params"].get("arguments", {})
    seconds = 30 if given.get("slow") else 0.02 if given.get("late") else 0
    if not seconds:
        return give_back(asked)
    timer = waiting[asked["id"]] = threading.Timer(seconds, give_back, [asked])
    timer.daemon = True
    timer.start()
schema = {"type": "object"}
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "notifications/cancelled":
        timer = waiting.pop(asked["params"]["requestId"], None)
        if timer:
            timer.cancel()
    if "id" not in asked or "method" not in asked:
        continue
    if asked["method"] == "initialize":
        say({"id": asked["id"], "result": {
            "protocolVersion": asked["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "u", "version": "1"}}})
    elif asked["method"] == "tools/list":
        say({"id": asked["id"], "result": {"tools": [{"name": "echo", "inputSchema": schema}]}})
    elif asked["method"] == "tools/call":
        call(asked)
    elif asked["method"] == "ping":
        say({"id": asked["id"], "result": {}})
    else:
        say({"id": asked["id"], "error": {"code": -32601, "message": "not known here"}})
"""
MARK = "soak-upstream"
COMMAND = {"command": sys.executable, "args": ["-S", "-c", UPSTREAM, MARK]}
UPSTREAMS = ("one", "two")
FAR = "far"
TOOLS = ("script", *(f"{name}_echo" for name in UPSTREAMS))


def behind(folder: Path) -> Path:
    """The registry of another gateway, which is an upstream over HTTP then."""
    registry = folder / "behind.json"
    server = {"name": FAR, "stdio": COMMAND, "expose": "all"}
    registry.write_text(json.dumps({"servers": [server]}))
    return registry


def laid_out(folder: Path, far: str = "") -> Path:
    """With a further upstream at that URL, if there is one."""
    project = folder / "project"
    tool = project / "tools" / "script"
    tool.mkdir(parents=True)
    (tool / "tool.meta.json").write_text(json.dumps({"name": "script"}))
    (tool / "tool.sh").write_text(SCRIPT)
    (tool / "tool.sh").chmod(0o755)
    (project / "server.d").mkdir()
    info = {"name": "soak", "version": "1.0.0"}
    (project / "server.d" / "server.meta.json").write_text(json.dumps(info))
    servers: list[dict[str, object]] = [
        {"name": name, "stdio": COMMAND, "env": {"NAME": name}, "expose": "listed"}
        for name in UPSTREAMS
    ]
    if far:
        servers.append({"name": FAR, "url": far, "expose": "listed"})
    tools = [
        {"name": f"{server['name']}_echo", "server": server["name"], "originalName": "echo"}
        for server in servers
    ]
    (project / "registry.json").write_text(json.dumps({"servers": servers, "tools": tools}))
    return project
