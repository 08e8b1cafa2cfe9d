#!/usr/bin/env bash
# Asks for completions as a client would. Exit code 0: it works.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! result=$("${MCPBASH_BIN:-@PROGRAM@}" request completion/complete \
	'{"ref": {"type": "ref/prompt", "name": "@NAME@"}, "argument": {"name": "topic", "value": "ap"}}'); then
	printf 'completion @NAME@: failed: %s\n' "$result" >&2
	exit 1
fi
case $result in
*'"values":["apple","apricot"]'*) echo 'ok: completion @NAME@' ;;
*)
	printf 'completion @NAME@: unexpected result: %s\n' "$result" >&2
	exit 1
	;;
esac
