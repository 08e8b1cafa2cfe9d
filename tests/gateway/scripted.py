"""An MCP server on pipes that is told by a file what it offers and how it answers. No SDK.

The file holds {"tools": [...], "log": FILE, "name": NAME}, and `prompts`, `resources` and
`templates` where it has those: a tool with a `result` gives that, one
with an `error` fails with it, any other gives its arguments back as text. What it was called with
goes to the log. With more words on the command line the file holds several such descriptions, by
those words; a server that is not among them cannot say what it offers, and answers calls. The
file is read anew for each list and each call; SIGHUP announces other tools.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import Any

JsonObject = dict[str, Any]
WRITING = threading.Lock()
LISTS = {
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "templates",
}


def told() -> JsonObject:
    with open(sys.argv[1]) as file:
        described: JsonObject = json.load(file)
    words = " ".join(sys.argv[2:])
    return {"log": described["log"], **described.get(words, {})} if words else described


def write(message: JsonObject) -> None:
    with WRITING:
        os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def listed(tool: JsonObject) -> JsonObject:
    ours = ("result", "error", "extra", "seconds")
    return {key: value for key, value in tool.items() if key not in ours}


def note(name: str, arguments: JsonObject) -> None:
    log = told().get("log")
    if log:
        line = json.dumps([told().get("name", "unknown"), name, arguments]) + "\n"
        with open(log, "a") as file:
            file.write(line)


def call(request: JsonObject) -> None:
    params = request["params"]
    arguments = params.get("arguments", {})
    note(params["name"], arguments)
    known = told().get("tools")
    tool = {} if known is None else next((t for t in known if t["name"] == params["name"]), None)
    if tool is None:
        error = {"code": -32602, "message": f"no tool {params['name']}"}
        write({"id": request["id"], "error": error})
        return
    time.sleep(tool.get("seconds", 0))
    if "error" in tool:
        write({"id": request["id"], "error": tool["error"]})
        return
    text = {"content": [{"type": "text", "text": json.dumps(arguments)}]}
    write({"id": request["id"], "result": tool.get("result", text)})


def answer(request: JsonObject) -> None:
    method = request["method"]
    if method == "initialize":
        version = request["params"]["protocolVersion"]
        capabilities: JsonObject = {"tools": {"listChanged": True}}
        capabilities |= {kind: {} for kind in ("prompts", "resources") if kind in told()}
        info = {"name": "scripted", "version": "1"}
        result = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
        if "instructions" in told():
            result["instructions"] = told()["instructions"]
    elif method == "tools/list" and "tools" in told():
        result = {"tools": [listed(tool) for tool in told()["tools"]]}
    elif method == "tools/call":
        threading.Thread(target=call, args=(request,), daemon=True).start()
        return
    elif LISTS.get(method) in told():
        key = "resourceTemplates" if "templates" in method else LISTS[method]
        result = {key: told()[LISTS[method]]}
    elif method == "prompts/get":
        said = {"role": "user", "content": {"type": "text", "text": "said"}}
        result = {"messages": [said]}
    elif method == "resources/read":
        result = {"contents": [{"uri": request["params"]["uri"], "text": "read"}]}
    elif method == "ping":
        result = {}
    else:
        code = -32603 if method == "tools/list" else -32601
        write({"id": request["id"], "error": {"code": code, "message": "not known here"}})
        return
    write({"id": request["id"], "result": result})


def main() -> None:
    def changed(*_: object) -> None:
        write({"method": "notifications/tools/list_changed"})

    signal.signal(signal.SIGHUP, changed)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer(message)


if __name__ == "__main__":
    main()
