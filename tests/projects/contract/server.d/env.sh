# shellcheck shell=bash
export CONTRACT_GREETING="hello from ${MCPBASH_PROJECT_ROOT##*/}"
