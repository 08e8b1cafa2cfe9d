#!/usr/bin/env bash
# Validates the project and runs every smoke.sh in it. Exit code 0: everything works.
#   --verbose  show what each test prints, also where it works
#   --force    go on although the project is not valid
set -uo pipefail
cd "$(dirname "$0")/.." || exit

verbose=0 force=0
for flag in "$@"; do
	case $flag in
	--verbose) verbose=1 ;;
	--force) force=1 ;;
	*)
		printf 'unknown option: %s\n' "$flag" >&2
		exit 2
		;;
	esac
done

if ! said=$("${MCPBASH_BIN:-@PROGRAM@}" validate 2>&1); then
	printf '%s\n' "$said" >&2
	((force)) || exit 1
elif ((verbose)); then
	printf '%s\n' "$said"
fi

ran=0 failed=0
while IFS= read -r -d '' smoke; do
	ran=$((ran + 1))
	if ! said=$(bash "$smoke" 2>&1); then
		failed=$((failed + 1))
		printf 'failed: %s\n%s\n' "$smoke" "$said" >&2
	elif ((verbose)); then
		printf 'passed: %s\n%s\n' "$smoke" "$said"
	else
		printf '%s\n' "$said"
	fi
done < <(find tools prompts resources completions -name smoke.sh -print0 2>/dev/null | sort -z)

if ((ran == 0)); then
	echo 'there is nothing to test'
elif ((failed)); then
	printf '%s of %s failed\n' "$failed" "$ran" >&2
	exit 1
else
	echo 'all ok'
fi
