"""An upstream that says the worst in every place where it may say something. Over stdio.

python -m tests.web.hostile
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

SCRIPT = "window.__owned = (window.__owned || 0) + 1"
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{SCRIPT}"><script>{SCRIPT}</script></svg>'
PAYLOADS = {
    "script": f"<script>{SCRIPT}</script>",
    "img": f"<img src=x onerror='{SCRIPT}'>",
    "svg": SVG,
    "iframe": f"<iframe srcdoc='<script>parent.{SCRIPT}</script>'></iframe>",
    "close": "</pre></code></script></style></textarea></title>--><h1>out</h1>",
    "style": "<style>body{display:none}</style>",
    "link": f"javascript:{SCRIPT}",
    "data": f"data:text/html,<script>{SCRIPT}</script>",
    "markdown": f"[click](javascript:{SCRIPT}) ![x](http://127.0.0.1:9/x.png)",
    "template": "{{constructor.constructor('" + SCRIPT + "')()}} ${" + SCRIPT + "}",
    "bidi": "safe\u202etxt.exe\u2066hidden\u2069 \u200b\u200bzero\ufeffwidth",
    "flood": "\u200b" * 1_100 + "safe\u202etxt.exe",
    "combining": "Z" + "\u0301\u0322" * 300,
    "tags": "plain\U000e0041\U000e0042\U000e0043",
    "lines": "a\r\nb\u2028c\u2029d\te\x00f\x1b[31mred",
    "proto": "__proto__",
    "long": "W" * 5_000,
    "words": "lorem ipsum " * 2_000,
    "empty": " ",
}
HUGE = "H" * 1_000_000


def tools() -> list[dict[str, Any]]:
    named = [tool(f"payload_{key}", text) for key, text in PAYLOADS.items()]
    odd = [tool(text[:120], text) for text in PAYLOADS.values() if text.strip()]
    return [*named, *odd, {**tool("huge", HUGE[:10]), "description": HUGE}]


def tool(name: str, text: str) -> dict[str, Any]:
    field = {"type": "string", "title": text, "description": text, "default": text}
    schema = {
        "type": "object",
        "title": text,
        "properties": {text: field, "plain": {"enum": [text, "b"], "description": text}},
    }
    icons = [{"src": PAYLOADS["link"]}, {"src": PAYLOADS["data"], "mimeType": "text/html"}]
    return {
        "name": name,
        "title": text,
        "description": text,
        "inputSchema": schema,
        "outputSchema": {"type": "object", "properties": {text: {"description": text}}},
        "annotations": {"title": text},
        "icons": icons,
        "_meta": {text: text},
    }


def called(params: dict[str, Any]) -> dict[str, Any]:
    name = params["name"]
    text = HUGE if name == "huge" else PAYLOADS.get(name.removeprefix("payload_"), name)
    packed = base64.b64encode(SVG.encode()).decode()
    content: list[dict[str, Any]] = [
        {"type": "text", "text": text},
        {"type": "image", "mimeType": "image/svg+xml", "data": packed},
        {"type": "image", "mimeType": "text/html", "data": packed},
        {"type": "image", "mimeType": 'x" onerror="' + SCRIPT, "data": '"><script>'},
        {"type": "audio", "mimeType": "audio/wav", "data": '"><script>'},
        {"type": "resource_link", "uri": PAYLOADS["link"], "name": text},
        {"type": "resource", "resource": {"uri": text, "mimeType": "text/html", "text": text}},
        {"type": text, text: text},
    ]
    rows = [{text: text, "n": 1}, {text: None, "n": 2}]
    return {"content": content, "structuredContent": {"rows": rows, text: [text, {text: text}]}}


ENTRIES: dict[str, Any] = {
    "tools/list": lambda params: {"tools": tools()},
    "resources/list": lambda params: {
        "resources": [{"uri": text, "name": text, "title": text} for text in PAYLOADS.values()]
    },
    "resources/templates/list": lambda params: {
        "resourceTemplates": [{"uriTemplate": "x://{a}<b>", "name": PAYLOADS["script"]}]
    },
    "prompts/list": lambda params: {
        "prompts": [
            {"name": text, "description": text, "arguments": [{"name": text}]}
            for text in PAYLOADS.values()
        ]
    },
    "tools/call": called,
}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        info = {"name": PAYLOADS["script"], "version": PAYLOADS["bidi"], "title": PAYLOADS["img"]}
        capabilities: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
        version = params["protocolVersion"]
        return {"result": greeting(version, capabilities, info)}
    if method == "tools/call" and params.get("name") == "payload_empty":
        data = {"why": PAYLOADS["img"], PAYLOADS["script"]: PAYLOADS["bidi"]}
        return {"error": {"code": -32050, "message": PAYLOADS["script"], "data": data}}
    if method in ENTRIES:
        return {"result": ENTRIES[method](params)}
    return {"error": {"code": -32601, "message": f"Method not found {PAYLOADS['script']}"}}


def greeting(version: str, capabilities: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}


def main() -> None:
    print(PAYLOADS["script"], PAYLOADS["lines"], file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], **answer(message)}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
