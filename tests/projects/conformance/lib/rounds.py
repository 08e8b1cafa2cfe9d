"""Ask by returning: print an `input_required` result now, be run again with the answers."""

import json
import os

STATE = os.environ.get("MCP_REQUEST_STATE", "")


def answers():
    """What the client answered, by key; anything that is not a map of objects counts as nothing."""
    given = json.loads(os.environ.get("MCP_INPUT_RESPONSES_JSON") or "{}")
    given = given if isinstance(given, dict) else {}
    return {key: value for key, value in given.items() if isinstance(value, dict)}


def field(key, name):
    """One field of an accepted form, or None."""
    content = answers().get(key, {}).get("content")
    return content.get(name) if isinstance(content, dict) else None


def form(message, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def sampling(text, tokens):
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": tokens}}


def roots():
    return {"method": "roots/list", "params": {}}


def ask(state=None, **requests):
    result = {"resultType": "input_required", "inputRequests": requests}
    if state is not None:
        result["requestState"] = state
    print(json.dumps(result))
    raise SystemExit


def answer(text):
    print(text, end="")
    raise SystemExit
