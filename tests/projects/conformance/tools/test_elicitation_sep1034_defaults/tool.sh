#!/usr/bin/env bash
# The file pair by hand: the request is renamed into place, the answer polled for.
[[ ${MCP_ELICIT_SUPPORTED:-0} == 1 ]] || { echo 'This client cannot ask its user' >&2; exit 1; }
cat >"$MCP_ELICIT_REQUEST_FILE.part" <<'JSON'
{
  "message": "Please review and update the form fields with defaults",
  "mode": "form",
  "schema": {
    "type": "object",
    "properties": {
      "name": {
        "type": "string",
        "description": "User name",
        "default": "John Doe"
      },
      "age": {
        "type": "integer",
        "description": "User age",
        "default": 30
      },
      "score": {
        "type": "number",
        "description": "User score",
        "default": 95.5
      },
      "status": {
        "type": "string",
        "description": "User status",
        "enum": [
          "active",
          "inactive",
          "pending"
        ],
        "default": "active"
      },
      "verified": {
        "type": "boolean",
        "description": "Verification status",
        "default": true
      }
    }
  }
}
JSON
mv "$MCP_ELICIT_REQUEST_FILE.part" "$MCP_ELICIT_REQUEST_FILE"
until [[ -s $MCP_ELICIT_RESPONSE_FILE ]]; do sleep 0.02; done
printf 'Elicitation completed: %s' "$(<"$MCP_ELICIT_RESPONSE_FILE")"
