#compdef toolyard
_toolyard() {
    local -a candidates
    candidates=("${(@f)$(toolyard completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    # Without candidates of ours, files.
    if [[ -n "${candidates[*]}" ]]; then
        compadd -a candidates
    else
        _files
    fi
}
compdef _toolyard toolyard
