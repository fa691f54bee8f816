"""The scripts with which bash, zsh and fish request completions."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from lightlag.errors import InputError
from lightlag.files.output import write_text

__all__ = ["install", "script", "shell_of"]

SHELLS = ("bash", "zsh", "fish")
_PLACES = {
    "bash": ".local/share/bash-completion/completions/lightlag",
    "zsh": ".zfunc/_lightlag",
    "fish": ".config/fish/completions/lightlag.fish",
}


def shell_of(name: str) -> str:
    """Returns the shell with this name; without a name, the shell of the user (``$SHELL``).

    Raises
    ------
    InputError
        If there is no completion for this shell.
    """
    name = name or Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise InputError(f"{name or 'this shell'}: cannot be completed for; name one of {', '.join(SHELLS)}")
    return name


def script(shell: str) -> str:
    """Returns the completion script of a shell."""
    return resources.files("lightlag.cli").joinpath(f"completion.{shell}").read_text("utf-8")


def install(shell: str) -> Path:
    """Writes the script where the shell looks for it, and returns its path."""
    path = Path.home() / _PLACES[shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, script(shell))
    if shell == "zsh":
        _add(Path.home() / ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit")
    if shell == "bash":
        _add(Path.home() / ".bashrc", f"source ~/{_PLACES[shell]}")
    return path


def _add(path: Path, line: str) -> None:
    text = path.read_text("utf-8") if path.exists() else ""
    if line not in text.splitlines():
        before = text if text.endswith("\n") or not text else f"{text}\n"
        write_text(path, f"{before}{line}\n")
