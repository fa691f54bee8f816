_lightlag_completion() {
    local IFS=$'\n' line
    COMPREPLY=()
    while read -r line; do
        COMPREPLY+=("$line")
    done < <(_LIGHTLAG_COMPLETE=bash _LIGHTLAG_LINE="${COMP_LINE:0:$COMP_POINT}" lightlag 2> /dev/null)
    case "${COMPREPLY[*]}" in
        *= | *. | */ | *-\>) compopt -o nospace ;;
    esac
}
complete -o nosort -F _lightlag_completion lightlag
