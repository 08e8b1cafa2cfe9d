"""A server with one tool, named by its first argument; its description tells what it was given."""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    name, *words = sys.argv[1:]
    seen = {key: os.environ[key] for key in sorted(os.environ) if key.endswith(("_KEY", "_TOKEN"))}
    tool = {
        "name": f"{name}-tool",
        "description": json.dumps([words, seen]),
        "inputSchema": {"type": "object"},
    }
    for line in sys.stdin:
        message = json.loads(line)
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": name, "version": "1"},
            },
            "tools/list": {"tools": [tool]},
            "tools/call": {"content": [{"type": "text", "text": f"{name} here"}]},
        }
        if "id" in message:
            result = results.get(message["method"], {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
