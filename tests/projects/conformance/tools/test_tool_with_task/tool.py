#!/usr/bin/env -S python3 -IS
import os, sys, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from rounds import answer, ask, field, form

name = field("user_name", "name")
if name is None:
    ask(user_name=form("What is your name?", name={"type": "string"}))
time.sleep(0.5)
answer(f"Hello, {name}, the work is done!")
