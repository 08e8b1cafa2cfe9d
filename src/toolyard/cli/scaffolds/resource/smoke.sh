#!/usr/bin/env bash
# Reads the resource as a client would. Exit code 0: it works.
set -euo pipefail
cd "$(dirname "$0")/../.."

result=$("${TOOLYARD:-toolyard}" request resources/read '{"name": "@NAME@"}')
case $result in
*'"text":"# @TITLE@'*) echo 'ok: resource @NAME@' ;;
*)
	printf 'resource @NAME@: unexpected result: %s\n' "$result" >&2
	exit 1
	;;
esac
