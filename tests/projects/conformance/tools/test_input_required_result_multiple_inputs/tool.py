#!/usr/bin/env -S python3 -IS
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from rounds import STATE, answer, answers, ask, form, roots, sampling

KEYS = {"user_name", "greeting", "client_roots"}
if not KEYS <= set(answers()) or STATE != "three questions":
    ask(
        "three questions",
        user_name=form("What is your name?", name={"type": "string"}),
        greeting=sampling("Generate a greeting", 50),
        client_roots=roots(),
    )
answer("All inputs received: " + ", ".join(sorted(KEYS)))
