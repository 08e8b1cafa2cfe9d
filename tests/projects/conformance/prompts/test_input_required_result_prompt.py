#!/usr/bin/env -S python3 -IS
import json, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from rounds import ask, field, form

context = field("user_context", "context")
if context is None:
    ask(user_context=form("What context should the prompt use?", context={"type": "string"}))
message = {"role": "user", "content": {"type": "text", "text": f"Use this context: {context}"}}
print(json.dumps({"messages": [message]}))
