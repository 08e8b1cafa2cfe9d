#!/usr/bin/env -S python3 -IS
import json, os

uri = json.loads(os.environ["MCP_PROMPT_ARGS_JSON"])["resourceUri"]
text = "Embedded resource content for testing."
resource = {"uri": uri, "mimeType": "text/plain", "text": text}
blocks = [
    {"type": "resource", "resource": resource},
    {"type": "text", "text": "Please process the embedded resource above."},
]
print(json.dumps({"messages": [{"role": "user", "content": block} for block in blocks]}))
