#!/usr/bin/env bash
# Gets the prompt as a client would. Exit code 0: it works.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! result=$("${MCPBASH_BIN:-@PROGRAM@}" request prompts/get \
	'{"name": "@NAME@", "arguments": {"topic": "tides", "sentences": "three"}}'); then
	printf 'prompt @NAME@: failed: %s\n' "$result" >&2
	exit 1
fi
case $result in
*'Explain tides '*' three sentences.'*) echo 'ok: prompt @NAME@' ;;
*)
	printf 'prompt @NAME@: unexpected result: %s\n' "$result" >&2
	exit 1
	;;
esac
