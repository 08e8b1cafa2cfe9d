#!/usr/bin/env bash
# Calls the tool as a client would. Exit code 0: it works.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! result=$("${MCPBASH_BIN:-@PROGRAM@}" run-tool @NAME@ --allow-self --args '{"name": "smoke"}'); then
	printf 'tool @NAME@: failed: %s\n' "$result" >&2
	exit 1
fi
case $result in
*'"structuredContent":{"message":"Hello, smoke!"}'*) echo 'ok: tool @NAME@' ;;
*)
	printf 'tool @NAME@: unexpected result: %s\n' "$result" >&2
	exit 1
	;;
esac
