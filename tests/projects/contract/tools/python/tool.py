#!/usr/bin/env -S python3 -IS
"""Reads its arguments from stdin, as any program can."""
import json
import sys

arguments = json.load(sys.stdin)
print(json.dumps({"sum": sum(arguments["numbers"])}))
