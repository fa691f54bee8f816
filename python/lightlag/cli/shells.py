"""The scripts by which bash, zsh and fish ask for completions."""

from __future__ import annotations

import os
from pathlib import Path

from lightlag.errors import InputError
from lightlag.files.output import new_file

__all__ = ["install", "script", "shell_of"]

SHELLS = ("bash", "zsh", "fish")
_SCRIPTS = {
    "bash": """\
_lightlag_completion() {
    local IFS=$'\\n' line
    COMPREPLY=()
    while read -r line; do
        COMPREPLY+=("$line")
    done < <(_LIGHTLAG_COMPLETE=bash _LIGHTLAG_LINE="${COMP_LINE:0:$COMP_POINT}" lightlag 2> /dev/null)
    case "${COMPREPLY[*]}" in
        *= | *. | */ | *-\\>) compopt -o nospace ;;
    esac
}
complete -o nosort -F _lightlag_completion lightlag
""",
    "zsh": """\
#compdef lightlag
_lightlag() {
    local -a described whole
    local line word
    while IFS= read -r line; do
        word="${line%%$'\\t'*}"
        whole+=("$word")
        described+=("$word -- ${line#*$'\\t'}")
    done < <(_LIGHTLAG_COMPLETE=zsh _LIGHTLAG_LINE="${(j: :)words[1,CURRENT]}" lightlag 2> /dev/null)
    compadd -Q -S '' -l -d described -a whole
}
compdef _lightlag lightlag
""",
    "fish": """\
function __lightlag_complete
    _LIGHTLAG_COMPLETE=fish _LIGHTLAG_LINE=(commandline -cp) lightlag 2> /dev/null
end
complete --command lightlag --no-files --keep-order --arguments '(__lightlag_complete)'
""",
}
_PLACES = {
    "bash": ".local/share/bash-completion/completions/lightlag",
    "zsh": ".zfunc/_lightlag",
    "fish": ".config/fish/completions/lightlag.fish",
}


def shell_of(name: str) -> str:
    """The shell of this name; without a name that which runs.

    Raises
    ------
    InputError
        If it is not one that can complete.
    """
    name = name or Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise InputError(f"{name or 'this shell'}: cannot be completed for; name one of {', '.join(SHELLS)}")
    return name


def script(shell: str) -> str:
    """The script by which a shell asks for completions."""
    return _SCRIPTS[shell]


def install(shell: str) -> Path:
    """Writes the script where the shell looks for it, and gives the path."""
    path = Path.home() / _PLACES[shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    with new_file(path) as partial:
        partial.write_text(script(shell), encoding="utf-8")
    if shell == "zsh":
        _add(Path.home() / ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit")
    if shell == "bash":
        _add(Path.home() / ".bashrc", f"source ~/{_PLACES[shell]}")
    return path


def _add(path: Path, line: str) -> None:
    text = path.read_text("utf-8") if path.exists() else ""
    if line not in text.splitlines():
        before = text if text.endswith("\n") or not text else f"{text}\n"
        with new_file(path) as partial:
            partial.write_text(f"{before}{line}\n", encoding="utf-8")
