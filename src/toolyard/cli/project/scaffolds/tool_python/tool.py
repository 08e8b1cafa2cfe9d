#!/usr/bin/env python3
"""What the tool does. Its name, description and arguments are in tool.meta.json."""

import json
import sys

arguments = json.load(sys.stdin)

# One JSON object is the result: clients get it as structured content and as text.
print(json.dumps({"message": f"Hello, {arguments.get('name', 'world')}!"}))
