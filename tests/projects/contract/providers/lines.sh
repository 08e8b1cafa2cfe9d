#!/usr/bin/env bash
# lines://N: so many lines; the exit codes of the contract for what is wrong.
number=${1#lines://}
case $number in
outside) exit 2 ;;
missing) exit 3 ;;
'' | *[!0-9]*) echo "not a number: $number" >&2; exit 4 ;;
esac
[ "$number" -le 9 ] || { echo "too many" >&2; exit 5; }
for ((line = 1; line <= number; line++)); do echo "line $line"; done
