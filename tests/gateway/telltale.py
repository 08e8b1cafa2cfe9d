"""A raw server on pipes that tells what it was told, and lists by what its client can do. No SDK.

Its one argument is JSON: `eras` (both unless said), `version` (its only handshake revision),
`capabilities`, and `log`, a file to which every line that it receives is appended.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

JsonObject = dict[str, Any]
OPTIONS: JsonObject = json.loads(sys.argv[1])
PREFIX = "io.modelcontextprotocol/"
NOTE = "note://1"
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
GREET = {"name": "greet", "arguments": [{"name": "city", "required": True}]}
CAPABILITIES = OPTIONS.get(
    "capabilities",
    {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}},
)
QUESTIONS: dict[str, tuple[str, JsonObject]] = {
    "elicitation": (
        "elicitation/create",
        {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
    ),
    "sampling": ("sampling/createMessage", {"messages": [], "maxTokens": 5}),
    "roots": ("roots/list", {}),
}
STATE: JsonObject = {"told": {}, "version": None, "roots": None, "added": [], "watched": []}


def write(message: JsonObject) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def read() -> JsonObject:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    if "log" in OPTIONS:
        with open(OPTIONS["log"], "a") as file:
            file.write(line)
    message: JsonObject = json.loads(line)
    return message


def told(message: JsonObject) -> JsonObject:
    meta = message.get("params", {}).get("_meta", {})
    found: JsonObject = meta.get(PREFIX + "clientCapabilities", STATE["told"])
    return found


def ask(method: str, params: JsonObject) -> JsonObject:
    """Imperatively, in the middle of something else."""
    write({"id": "asked", "method": method, "params": params})
    while (message := read()).get("id") != "asked" or "method" in message:
        handle(message)
    return message


def tools(message: JsonObject) -> list[JsonObject]:
    able = told(message)
    names = ["whoami", "touch", "add", "log"]
    names += [f"ask-{name}" for name in QUESTIONS if name in able]
    names += ["app"] if "extensions" in able else []
    plain = [{"name": name, "inputSchema": {"type": "object"}} for name in names + STATE["added"]]
    return [*plain, {"name": "coerce", "inputSchema": NUMBER}]


def whoami(message: JsonObject) -> JsonObject:
    modern = PREFIX + "protocolVersion" in message["params"].get("_meta", {})
    return {
        "pid": os.getpid(),
        "era": "modern" if modern else "handshake",
        "version": STATE["version"],
        "told": told(message),
        "roots": STATE["roots"],
    }


def touch(message: JsonObject) -> JsonObject:
    for uri in STATE["watched"]:
        write({"method": "notifications/resources/updated", "params": {"uri": uri}})
    return {"watched": STATE["watched"]}


def add(message: JsonObject) -> JsonObject:
    STATE["added"].append(message["params"]["arguments"]["name"])
    write({"method": "notifications/tools/list_changed"})
    return {}


def log(message: JsonObject) -> JsonObject:
    """Says something when its file is there, and ends when the other one is."""
    arguments = message["params"]["arguments"]
    open(arguments["began"], "w").close()
    while not os.path.exists(arguments["go"]):
        time.sleep(0.01)
    write({"method": "notifications/message", "params": {"level": "info", "data": "mine"}})
    return {}


def called(message: JsonObject) -> JsonObject:
    name = message["params"]["name"]
    table = {"whoami": whoami, "touch": touch, "add": add, "log": log}
    if name in table:
        said = table[name](message)
    elif name.startswith("ask-"):
        said = ask(*QUESTIONS[name.removeprefix("ask-")])
    else:
        said = message["params"].get("arguments", {})
    return {"content": [{"type": "text", "text": json.dumps(said)}]}


def initialize(message: JsonObject) -> JsonObject:
    params = message["params"]
    STATE["told"] = params["capabilities"]
    STATE["version"] = OPTIONS.get("version", params["protocolVersion"])
    info = {"name": "telltale", "version": "1"}
    return {
        "protocolVersion": STATE["version"],
        "capabilities": CAPABILITIES,
        "serverInfo": info,
    }


def take_roots(message: JsonObject) -> None:
    if "roots" in STATE["told"]:
        answer = ask("roots/list", {})
        time.sleep(0.02)  # to look at the folders
        STATE["roots"] = answer.get("result", {}).get("roots")


def subscribe(message: JsonObject) -> JsonObject:
    STATE["watched"].append(message["params"]["uri"])
    return {}


def unsubscribe(message: JsonObject) -> JsonObject:
    STATE["watched"].remove(message["params"]["uri"])
    return {}


def listed(message: JsonObject, **items: Any) -> JsonObject:
    return {**items, "ttlMs": 0, "cacheScope": "private"}


METHODS: dict[str, Callable[[JsonObject], JsonObject]] = {
    "initialize": initialize,
    "server/discover": lambda message: {
        "supportedVersions": ["2026-07-28"],
        "capabilities": CAPABILITIES,
        "ttlMs": 0,
        "cacheScope": "private",
    },
    "ping": lambda message: {},
    "logging/setLevel": lambda message: {},
    "tools/list": lambda message: listed(message, tools=tools(message)),
    "tools/call": called,
    "resources/list": lambda message: listed(message, resources=[{"uri": NOTE, "name": "note"}]),
    "resources/templates/list": lambda message: listed(message, resourceTemplates=[]),
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
    "prompts/list": lambda message: listed(message, prompts=[GREET]),
    "prompts/get": lambda message: {"description": "greeted", "messages": []},
}
if "completes" in OPTIONS:
    METHODS["completion/complete"] = lambda message: {"completion": {"values": ["paris"]}}
NOTIFICATIONS = {
    "notifications/initialized": take_roots,
    "notifications/roots/list_changed": take_roots,
}
ERAS = OPTIONS.get("eras", ["modern", "handshake"])
if "modern" not in ERAS:
    del METHODS["server/discover"]
if "handshake" not in ERAS:
    del METHODS["initialize"]


def handle(message: JsonObject) -> None:
    method = message.get("method", "")
    if "id" not in message:
        if method in NOTIFICATIONS:
            NOTIFICATIONS[method](message)
    elif method == "subscriptions/listen":
        tag = {PREFIX + "subscriptionId": message["id"]}
        params = {"_meta": tag, "notifications": message["params"]["notifications"]}
        write({"method": "notifications/subscriptions/acknowledged", "params": params})
        STATE["watched"] = message["params"]["notifications"].get("resourceSubscriptions", [])
    elif method in METHODS:
        result = METHODS[method](message)
        write({"id": message["id"], "result": {"resultType": "complete", **result}})
    elif method:
        error = {"code": -32601, "message": "Method not found"}
        write({"id": message["id"], "error": error})


while True:
    handle(read())
