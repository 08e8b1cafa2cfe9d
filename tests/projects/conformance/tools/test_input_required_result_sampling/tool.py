#!/usr/bin/env -S python3 -IS
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from rounds import answer, answers, ask, sampling

reply = answers().get("capital_question", {}).get("content")
if not isinstance(reply, dict):
    ask(capital_question=sampling("What is the capital of France?", 100))
answer(f"LLM response: {reply.get('text')}")
