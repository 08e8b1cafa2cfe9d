"""Put a question to the client through a pair of files, and wait for the answer."""

import json
import os
import time


def supported(kind):
    return os.environ.get(f"MCP_{kind}_SUPPORTED") == "1"


def ask(kind, request):
    """`kind` is ELICIT or SAMPLE; the request is renamed into place so that it is read whole."""
    target = os.environ[f"MCP_{kind}_REQUEST_FILE"]
    answer = os.environ[f"MCP_{kind}_RESPONSE_FILE"]
    with open(target + ".part", "w", encoding="utf-8") as file:
        json.dump(request, file)
    os.rename(target + ".part", target)
    while not (os.path.exists(answer) and os.path.getsize(answer)):
        time.sleep(0.01)
    with open(answer, encoding="utf-8") as file:
        return json.load(file)
