#!/usr/bin/env -S python3 -IS
import json, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from rounds import answer, answers, ask, form, roots, sampling

capabilities = json.loads(os.environ.get("MCP_CLIENT_CAPABILITIES_JSON") or "{}")
QUESTIONS = {
    "elicitation": form("What is your name?", name={"type": "string"}),
    "sampling": sampling("Generate a greeting", 50),
    "roots": roots(),
}
possible = {kind: question for kind, question in QUESTIONS.items() if kind in capabilities}
if possible and not set(possible) <= set(answers()):
    ask(**possible)
answer("Asked: " + (", ".join(possible) or "nothing"))
