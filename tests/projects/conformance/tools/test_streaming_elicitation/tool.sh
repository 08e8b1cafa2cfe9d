#!/usr/bin/env bash
# The file pair by hand: the request is renamed into place, the answer polled for.
[[ ${MCP_ELICIT_SUPPORTED:-0} == 1 ]] || { echo 'This client cannot ask its user' >&2; exit 1; }
cat >"$MCP_ELICIT_REQUEST_FILE.part" <<'JSON'
{
  "message": "Continue?",
  "mode": "form",
  "schema": {
    "type": "object",
    "properties": {
      "ok": {
        "type": "boolean"
      }
    }
  }
}
JSON
mv "$MCP_ELICIT_REQUEST_FILE.part" "$MCP_ELICIT_REQUEST_FILE"
until [[ -s $MCP_ELICIT_RESPONSE_FILE ]]; do sleep 0.02; done
printf 'Elicitation completed: %s' "$(<"$MCP_ELICIT_RESPONSE_FILE")"
