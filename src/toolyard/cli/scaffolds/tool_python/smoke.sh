#!/usr/bin/env bash
# Calls the tool as a client would. Exit code 0: it works.
set -euo pipefail
cd "$(dirname "$0")/../.."

result=$("${TOOLYARD:-toolyard}" run-tool @NAME@ --allow-self --args '{"name": "smoke"}')
case $result in
*'"structuredContent":{"message":"Hello, smoke!"}'*) echo 'ok: tool @NAME@' ;;
*)
	printf 'tool @NAME@: unexpected result: %s\n' "$result" >&2
	exit 1
	;;
esac
