#!/usr/bin/env bash
# What the schema can say is checked before this runs: types, ranges, enums, unknown names.
source "${MCP_SDK:?}/tool-sdk.sh"

value=$(mcp_args_require '.value')
from=$(mcp_args_require '.from')
to=$(mcp_args_get '.to' --default 'm')
digits=$(mcp_args_int '.digits' --default 2 --min 0 --max 9) || exit 1

# What a schema cannot say is the script's to check. The model reads this and tries again.
if [[ $from == "$to" ]]; then
	mcp_error invalid_request "from and to are both $to" --hint 'choose two different units'
	exit 0
fi

metres() {
	case $1 in
	m) echo 1 ;;
	km) echo 1000 ;;
	ft) echo 0.3048 ;;
	mi) echo 1609.344 ;;
	esac
}

result=$(awk -v value="$value" -v from="$(metres "$from")" -v to="$(metres "$to")" -v digits="$digits" \
	'BEGIN { printf "%.*f", digits, value * from / to }')
mcp_emit_json "{\"value\": $result, \"unit\": \"$to\"}"
