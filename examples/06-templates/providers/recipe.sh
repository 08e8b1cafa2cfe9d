#!/usr/bin/env bash
# A provider gets the whole URI. Names are checked here: a path must not leave the folder.
name=${1#recipe://}
[[ $name =~ ^[a-z-]+$ ]] || exit 4
cat "$MCPBASH_PROJECT_ROOT/recipes/$name.txt" 2>/dev/null || exit 3
