#!/usr/bin/env -S python3 -IS
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.environ["MCPBASH_PROJECT_ROOT"] + "/lib")
from rounds import answer, answers, ask, roots

found = answers().get("client_roots", {}).get("roots")
if not isinstance(found, list):
    ask(client_roots=roots())
answer("Roots: " + ", ".join(root["uri"] for root in found))
