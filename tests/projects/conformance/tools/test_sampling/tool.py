#!/usr/bin/env -S python3 -IS
import json, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from questions import ask, supported

if not supported("SAMPLE"):
    sys.exit("This client cannot sample")
prompt = json.loads(os.environ["MCP_TOOL_ARGS_JSON"])["prompt"]
message = {"role": "user", "content": {"type": "text", "text": prompt}}
answer = ask("SAMPLE", {"messages": [message], "maxTokens": 100})
print(f"LLM response: {answer['content']['text']}", end="")
