#!/usr/bin/env bash
# An executable with metadata is run when it is read; its source is never served.
printf '{"processes": %d}\n' "$(find /proc -maxdepth 1 -name '[0-9]*' 2>/dev/null | wc -l)"
