#!/usr/bin/env bash
cat "$MCPBASH_PROJECT_ROOT/note.txt" 2>/dev/null || echo 'There is no note.'
