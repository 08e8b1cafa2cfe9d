#!/usr/bin/env -S python3 -IS
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from rounds import STATE, answer, answers, ask, form

if "confirm" not in answers() or STATE != "sealed by the server":
    ask("sealed by the server", confirm=form("Please confirm", ok={"type": "boolean"}))
answer("The state came back unaltered.")
