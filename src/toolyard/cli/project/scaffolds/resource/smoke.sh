#!/usr/bin/env bash
# Reads the resource as a client would. Exit code 0: it works.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! result=$("${MCPBASH_BIN:-@PROGRAM@}" request resources/read '{"name": "@NAME@"}'); then
	printf 'resource @NAME@: failed: %s\n' "$result" >&2
	exit 1
fi
case $result in
*'"text":"# @TITLE@'*) echo 'ok: resource @NAME@' ;;
*)
	printf 'resource @NAME@: unexpected result: %s\n' "$result" >&2
	exit 1
	;;
esac
