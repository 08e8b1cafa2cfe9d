#!/usr/bin/env bash
# Validates the project and runs every smoke.sh in it. Exit code 0: everything works.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

failed=0
"${TOOLYARD:-toolyard}" validate || failed=1
while IFS= read -r -d '' smoke; do
	bash "$smoke" || failed=1
done < <(find tools prompts resources completions -name smoke.sh -print0 2>/dev/null | sort -z)

if ((failed)); then
	echo 'failed' >&2
	exit 1
fi
echo 'all ok'
