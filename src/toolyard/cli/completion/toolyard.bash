_toolyard() {
    local IFS=$'\n'
    COMPREPLY=($(toolyard completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
# Without candidates of ours, files.
complete -o default -F _toolyard toolyard
