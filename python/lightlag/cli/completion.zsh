#compdef lightlag
_lightlag() {
    local -a described whole
    local line word
    while IFS= read -r line; do
        word="${line%%$'\t'*}"
        whole+=("$word")
        described+=("$word -- ${line#*$'\t'}")
    done < <(_LIGHTLAG_COMPLETE=zsh _LIGHTLAG_LINE="${(j: :)words[1,CURRENT]}" lightlag 2> /dev/null)
    compadd -Q -S '' -l -d described -a whole
}
compdef _lightlag lightlag
