#!/usr/bin/env bash
# The file pair by hand: the request is renamed into place, the answer polled for.
[[ ${MCP_ELICIT_SUPPORTED:-0} == 1 ]] || { echo 'This client cannot ask its user' >&2; exit 1; }
cat >"$MCP_ELICIT_REQUEST_FILE.part" <<'JSON'
{
  "message": "Please choose",
  "mode": "form",
  "schema": {
    "type": "object",
    "properties": {
      "untitledSingle": {
        "type": "string",
        "enum": [
          "option1",
          "option2",
          "option3"
        ]
      },
      "titledSingle": {
        "type": "string",
        "oneOf": [
          {
            "const": "value1",
            "title": "First Option"
          },
          {
            "const": "value2",
            "title": "Second Option"
          },
          {
            "const": "value3",
            "title": "Third Option"
          }
        ]
      },
      "legacyEnum": {
        "type": "string",
        "enum": [
          "opt1",
          "opt2",
          "opt3"
        ],
        "enumNames": [
          "Option One",
          "Option Two",
          "Option Three"
        ]
      },
      "untitledMulti": {
        "type": "array",
        "items": {
          "type": "string",
          "enum": [
            "option1",
            "option2",
            "option3"
          ]
        }
      },
      "titledMulti": {
        "type": "array",
        "items": {
          "anyOf": [
            {
              "const": "value1",
              "title": "First Choice"
            },
            {
              "const": "value2",
              "title": "Second Choice"
            },
            {
              "const": "value3",
              "title": "Third Choice"
            }
          ]
        }
      }
    }
  }
}
JSON
mv "$MCP_ELICIT_REQUEST_FILE.part" "$MCP_ELICIT_REQUEST_FILE"
until [[ -s $MCP_ELICIT_RESPONSE_FILE ]]; do sleep 0.02; done
printf 'Elicitation completed: %s' "$(<"$MCP_ELICIT_RESPONSE_FILE")"
