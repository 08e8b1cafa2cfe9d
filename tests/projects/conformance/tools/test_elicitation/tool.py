#!/usr/bin/env -S python3 -IS
import json, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from questions import ask, supported

if not supported("ELICIT"):
    sys.exit("This client cannot ask its user")
message = json.loads(os.environ["MCP_TOOL_ARGS_JSON"])["message"]
schema = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
answer = ask("ELICIT", {"message": message, "schema": schema, "mode": "form"})
print(f"User response: action={answer['action']}, content={json.dumps(answer.get('content'))}", end="")
