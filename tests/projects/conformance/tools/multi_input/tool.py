#!/usr/bin/env -S python3 -IS
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from rounds import answer, ask, field, form

first, second = field("first", "name"), field("second", "name")
if first is None or second is None:
    ask(
        first=form("The first name?", name={"type": "string"}),
        second=form("The second name?", name={"type": "string"}),
    )
answer(f"{first} and {second}")
