#!/usr/bin/env -S python3 -IS
import json, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from questions import ask, supported

if not supported("ELICIT"):
    sys.exit("This client cannot ask its user")
name = json.loads(os.environ["MCP_TOOL_ARGS_JSON"])["filename"]
schema = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean"}},
    "required": ["confirm"],
}
answer = ask("ELICIT", {"message": f"Delete {name}?", "schema": schema, "mode": "form"})
agreed = answer["action"] == "accept" and answer["content"]["confirm"]
print(f"{name} is {'deleted' if agreed else 'kept'}", end="")
