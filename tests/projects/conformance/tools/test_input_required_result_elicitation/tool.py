#!/usr/bin/env -S python3 -IS
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from rounds import answer, ask, field, form

name = field("user_name", "name")
if not isinstance(name, str):
    ask(user_name=form("What is your name?", name={"type": "string"}))
answer(f"Hello, {name}!")
