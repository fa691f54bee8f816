"""Completion of commands, options and their values in bash, zsh and fish.

A shell passes the line up to the cursor and receives one candidate per line, followed by a tab and its meaning. Values
of ``--set`` and ``--vary`` come from the schema and the named scenario, algorithms from the engine's catalog.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Any

__all__ = ["Candidate", "answer", "complete", "split"]

Candidate = tuple[str, str]
"""The text of a candidate and its meaning."""
_BREAKS = re.compile(r"""[=:><@|&;(]""")
"""Separators of words in bash, outside of quotes."""


def answer(shell: str) -> None:
    """Prints the candidates for the line in the environment."""
    line = os.environ.get("_LIGHTLAG_LINE", "")
    words, incomplete, is_quoted = split(line)
    cut = 0
    if shell == "bash" and not is_quoted:
        found = list(_BREAKS.finditer(incomplete))
        cut = found[-1].end() if found else 0
    lines = []
    for word, about in complete(words[1:], incomplete):
        shown = word if is_quoted or shell == "fish" else _escaped(word)
        lines.append(_escaped(word)[len(_escaped(incomplete[:cut])) :] if shell == "bash" and not is_quoted else shown)
        lines[-1] += "" if shell == "bash" else f"\t{about}"
    print("\n".join(lines))


def _escaped(word: str) -> str:
    return re.sub(r"([\s><|&;()$`\"'])", r"\\\1", word)


def split(line: str) -> tuple[list[str], str, bool]:
    """Returns the complete words of a line, its last word, and whether the last word is in quotes.

    Examples
    --------
    >>> split("lightlag run geo -s ")
    (['lightlag', 'run', 'geo', '-s'], '', False)
    >>> split("lightlag run geo -s 'links.gateway->s")
    (['lightlag', 'run', 'geo', '-s'], 'links.gateway->s', True)
    """
    words, word, quote, is_open = [], "", "", False
    characters = iter(line)
    for character in characters:
        if character == "\\" and quote != "'":
            word, is_open = word + next(characters, ""), True
        elif quote:
            word, quote = (word, "") if character == quote else (word + character, quote)
        elif character in "\"'":
            quote, is_open = character, True
        elif character.isspace():
            words += [word] if word or is_open else []
            word, is_open = "", False
        else:
            word += character
    return words, word, bool(quote)


def complete(words: list[str], incomplete: str) -> list[Candidate]:
    """Returns the candidates that can follow these words, which do not include the name of the program."""
    from typer.main import get_command

    from lightlag.cli.app import app

    line = _Line(get_command(app))
    for word in words:
        line.take(word)
    if line.option is None and incomplete.startswith("-") and "=" in incomplete:
        name, _, value = incomplete.partition("=")
        line.take(name)
        return [(f"{name}={word}", about) for word, about in line.values(value)]
    return line.candidates(incomplete)


class _Line:
    """The state of a partly parsed command line, which determines the candidates."""

    def __init__(self, command: Any) -> None:
        self.command, self.path = command, [""]
        self.option: Any = None
        """The option whose value comes next; None if there is none."""
        self.given: dict[str, list[str]] = {}
        self.positions = 0

    def take(self, word: str) -> None:
        """Processes a complete word of the line."""
        if self.option is not None:
            self.given.setdefault(self.option.name, []).append(word)
            self.option = None
        elif word.startswith("-") and len(word) > 1:
            name, separator, value = word.partition("=")
            found = self._named(name)
            if found is not None and found.is_flag:
                self.given.setdefault(found.name, []).append("")
            elif found is not None:
                if separator:
                    self.given.setdefault(found.name, []).append(value)
                else:
                    self.option = found
        elif self._is_group:
            command = self.command.get_command(None, word)
            if command is not None:
                self.command, self.positions, self.given = command, 0, {}
                self.path.append(word)
        else:
            if (argument := self._argument) is not None:
                self.given.setdefault(argument.name, []).append(word)
            self.positions += 1

    def candidates(self, start: str) -> list[Candidate]:
        """Returns the candidates for the rest of the line up to the next space."""
        if self.option is None and start.startswith("-"):
            return self._options(start)
        return self.values(start)

    def values(self, start: str) -> list[Candidate]:
        """Returns the values of the option or argument that comes next, or the commands."""
        if self.option is None and self._is_group:
            shown = ((name, entry.short_help) for name, entry in self.command.entries.items())
            return [one for one in shown if one[0].startswith(start)]
        parameter = self.option if self.option is not None else self._argument
        if parameter is None:
            return self._options(start)
        found = _values(parameter, self.path[-1], start, self.given)
        if self.option is not None and self.option.name in ("pcap", "acks", "install_completion", "show_completion"):
            # Its value may be left out.
            self.option = None
        return found

    @property
    def _is_group(self) -> bool:
        return hasattr(self.command, "list_commands")

    @property
    def _argument(self) -> Any:
        """The next positional argument; the last one may take several values."""
        arguments = [one for one in self.command.params if one.param_type_name == "argument"]
        if self.positions < len(arguments):
            return arguments[self.positions]
        return arguments[-1] if arguments and arguments[-1].nargs == -1 else None

    def _named(self, name: str) -> Any:
        options = (one for one in self.command.params if one.param_type_name == "option")
        return next((one for one in options if name in (*one.opts, *one.secondary_opts)), None)

    def _options(self, start: str) -> list[Candidate]:
        found: list[Candidate] = []
        for one in self.command.params:
            if one.param_type_name == "option" and (one.multiple or one.name not in self.given):
                about = (one.help or "").split(". ")[0].rstrip(".")
                names = [*one.opts, *one.secondary_opts]
                names = [name for name in names if name.startswith("--")] or names
                found += [(name, about) for name in names if name.startswith(start)]
        return found


def _values(parameter: Any, command: str, start: str, given: dict[str, list[str]]) -> list[Candidate]:
    from lightlag.cli import candidates as _candidates

    completer: Callable[[str, dict[str, list[str]]], Iterable[Candidate]] | None
    completer = _candidates.OF.get((command, parameter.name)) or _candidates.OF.get(("", parameter.name))
    if completer is None:
        words = getattr(parameter.type, "choices", ())
        completer = (lambda *_: [(str(word), "") for word in words]) if words else _candidates.files
    return [one for one in completer(start, given) if one[0].startswith(start)]
