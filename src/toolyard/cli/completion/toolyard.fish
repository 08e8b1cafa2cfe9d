# Without candidates of ours, fish offers files.
complete -c toolyard -a '(toolyard completion words (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
