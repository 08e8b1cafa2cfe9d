#!/usr/bin/env -S python3 -IS
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from rounds import STATE, answer, ask, field, form

step, _, name = STATE.partition(":")
if step == "two" and (color := field("step2", "color")) is not None:
    answer(f"{name} likes {color}.")
if step == "one":
    name = field("step1", "name")
if not name:
    ask("one", step1=form("Step 1: What is your name?", name={"type": "string"}))
ask("two:" + name, step2=form("Step 2: What is your favorite color?", color={"type": "string"}))
