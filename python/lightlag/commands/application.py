"""Commands that are imported only when they are invoked, because importing all of them takes most of the time of a
short command.
"""

from __future__ import annotations

import importlib
import inspect
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from lightlag._renamed import renamed
from lightlag.errors import InputError
from lightlag.text.terminal import printable

__all__ = ["HELP", "Command", "Commands", "Entry", "Group", "application"]

PROGRAM = "lightlag"
LAST_SEED = 2**63 - 1
MAX_JOBS = 4096
"""Maximum number of threads or processes of a command."""
ALONE = ("--install-completion", "--show-completion")
"""Options of the program that may be given without their value."""
HELP = {"help_option_names": ["-h", "--help"]}
"""Settings that all commands share."""


@dataclass(frozen=True)
class Entry:
    """A command: where its function is, and its short help."""

    place: str
    """The function of the command, as ``module:name``."""
    short_help: str
    cls: str | None = None
    """The class of the command, as ``module:name``; None for the default class."""


@dataclass(frozen=True)
class Group:
    """A command that has subcommands."""

    help: str
    short_help: str
    entries: Mapping[str, Entry]


class Commands(TyperGroup):
    """A group with the commands of a table. Errors on the command line are printed with control characters escaped."""

    entries: ClassVar[Mapping[str, Entry | Group]] = {}
    guard: ClassVar[Any] = staticmethod(lambda command: command)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Loaded(self.entries, self.guard)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.entries)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.short_help) for name, entry in self.entries.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if message := renamed(" ".join([PROGRAM, *ctx.command_path.split()[1:], *args[:1]])):
            ctx.fail(message)
        if args and args[0] not in self.entries and ctx.parent is None and (hint := _COMMANDS.get(args[0])):
            ctx.fail(f"No such command '{args[0]}'; {hint}")
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _escaped():
            return super().make_context(*args, **options)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        parsed: list[str] = super().parse_args(ctx, _with_values(self._as_options(args)))
        return parsed

    def _as_options(self, args: list[str]) -> list[str]:
        """Returns the arguments, with ``help`` and ``version`` as options instead of commands."""
        if args[:1] == ["help"]:
            return [*args[1:], "--help"]
        is_known = any("--version" in one.opts for one in self.params)
        return ["--version"] if args == ["version"] and is_known else args

    def invoke(self, ctx: Any) -> Any:
        with _escaped():
            return super().invoke(ctx)


class Command(TyperCommand):
    """A command. If the "=" of an option such as ``--set KEY=VALUE`` is missing, its error states the form."""

    guard: Any = staticmethod(lambda command: command)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [re.sub(r"[{}]", "", piece) for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for one in self.params:
            if (getattr(one, "metavar", None) or "").startswith("KEY="):
                self.guard(_check_pairs)(one, args)
        try:
            parsed: list[str] = super().parse_args(ctx, args)
        except Exception as error:
            # The parser's own class has another module in each version.
            if (name := getattr(error, "option_name", None)) and hasattr(error, "possibilities"):
                if message := renamed(" ".join([PROGRAM, *ctx.command_path.split()[1:], name])):
                    error.possibilities, error.message = [], message  # type: ignore[attr-defined]
                    raise
                known = [option for one in self.params for option in one.opts]
                error.possibilities, hint = _suggestion(name, known, list(error.possibilities or []))
                error.message = f"No such option: {name}{hint}"  # type: ignore[attr-defined]
            raise
        return parsed


def _suggestion(name: str, known: list[str], possibilities: list[str]) -> tuple[list[str], str]:
    """Returns the options that were probably meant; and a hint, if this command has no such option."""
    hint = _HINTS.get(name)
    if hint is None or hint in known:
        return [hint] if hint else possibilities, ""
    return (possibilities, "") if hint.startswith("-") else ([], f"; {hint}")


_CHANGE = "change the scenario with --set KEY=VALUE, such as --set links.0.{}"
_HINTS = {
    **dict.fromkeys(("--cc", "--algorithm", "--algorithms", "--algo", "--tcp", "--variant"), "--congestion"),
    **dict.fromkeys(("--output", "--output-dir", "--folder", "--dir"), "--out"),
    **dict.fromkeys(("--seeds", "--runs", "--repeat", "--repetitions", "--reps"), "--replications"),
    **dict.fromkeys(("--time", "--length", "--sim-time", "--simtime"), "--duration"),
    **dict.fromkeys(("--parallel", "--workers", "--cores"), "--jobs"),
    **dict.fromkeys(("--overwrite", "--replace", "-y", "--yes"), "--force"),
    "-n": 'a run has one seed; "lightlag compare FILE -n N" runs several',
    "--plot": 'plot the results with "lightlag plot DIR"',
    "--figures": 'plot the results with "lightlag plot DIR"',
    **dict.fromkeys(("--rate", "--bandwidth", "--bw"), _CHANGE.format("rate='5 Mbit/s'")),
    **dict.fromkeys(("--delay", "--latency"), _CHANGE.format("delay='20 ms'")),
    **dict.fromkeys(("--loss", "--plr", "--per"), _CHANGE.format("loss=1e-3")),
    **dict.fromkeys(("--queue", "--buffer"), _CHANGE.format("queue='1 bdp'")),
    "--rtt": 'set delays of links, --set links.0.delay="25 ms"; "lightlag compare" varies the RTT with --vary rtt=...',
}
"""Option names of other programs, each with the corresponding option of ours or a hint."""


_COMMANDS = {
    **dict.fromkeys(("completion", "completions"), 'install completion with "lightlag --install-completion"'),
    **dict.fromkeys(("simulate", "sim", "exec", "start"), 'run a scenario with "lightlag run FILE"'),
    **dict.fromkeys(("presets", "scenarios", "examples"), 'list presets with "lightlag list scenarios"'),
    **dict.fromkeys(("algorithms", "congestion", "cc"), 'list algorithms with "lightlag list congestion"'),
    **dict.fromkeys(("analyse", "analyze", "pcap", "capture"), 'describe a capture with "lightlag inspect FILE"'),
    **dict.fromkeys(("validate-file", "lint", "verify"), 'check a scenario with "lightlag check FILE"'),
    **dict.fromkeys(("gui", "ui", "web", "browser"), 'open the studio with "lightlag studio"'),
    **dict.fromkeys(("glossary", "define", "what", "describe"), 'explain a term with "lightlag explain TERM"'),
    **dict.fromkeys(("init", "create", "template"), 'write a scenario to start from with "lightlag new scenario NAME"'),
}
"""Names of commands that do not exist, each with the command that was probably meant."""


def _check_pairs(option: Any, args: list[str]) -> None:
    """Fails if a key and its value are two words: the second would be taken for a FILE."""
    for at, word in enumerate(args):
        name, separator, pair = word.partition("=")
        if name not in option.opts:
            continue
        pair, after = (pair, args[at + 1 :]) if separator else ("".join(args[at + 1 : at + 2]), args[at + 2 :])
        if not pair or "=" in pair or pair.startswith("-") or not after or _is_option(after[0]):
            continue
        value = "VALUE" if Path(after[0]).suffix in (".toml", ".json", ".csv") or _is_preset(after[0]) else after[0]
        right = shlex.quote(f"{pair}={value}")
        raise InputError(f'{name} "{pair}": is not {option.metavar}, one argument with "="; write {name} {right}')


def _is_option(word: str) -> bool:
    return word.startswith("-") and not word[1:2].isdigit()


def _is_preset(word: str) -> bool:
    from lightlag.scenario import presets

    return word in presets.names()


class _Loaded(MutableMapping[str, Any]):
    """Commands by name, each created at its first use."""

    def __init__(self, entries: Mapping[str, Entry | Group], guard: Callable[[Any], Any]) -> None:
        self._entries, self._guard = entries, guard
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._command(name, self._entries[name])
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _command(self, name: str, entry: Entry | Group) -> Any:
        if isinstance(entry, Group):
            group = application(entry.entries, self._guard, help=entry.help)
            group.callback()(_nothing)
            made = typer.main.get_command(group)
            made.name = name
            return made
        function = _named(entry.place)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=HELP)
        alone.command(
            name=name,
            cls=Command if entry.cls is None else _named(entry.cls),
            short_help=entry.short_help,
            # Paragraphs that keep their lines start with a backspace, which a raw docstring writes as \b.
            help=(inspect.getdoc(function) or "").replace("\\b\n", "\b\n"),
        )(self._guard(function))
        command: Any = typer.main.get_command(alone)
        command.guard = self._guard
        for one in command.params:
            _plain_help(one)
        return command


_METAVARS = {"int": "N", "float": "NUMBER", "str": "TEXT", "text": "TEXT", "path": "PATH"}


def _plain_help(parameter: Any) -> None:
    """Changes the help of a parameter to plain words: without types and ranges in the notation of the parser."""
    kind = parameter.type
    if parameter.param_type_name == "argument":
        # The line of the usage shows which arguments are required.
        record = parameter.get_help_record
        parameter.get_help_record = lambda ctx: _without_required(record(ctx))
    elif parameter.metavar is None and not getattr(parameter, "is_flag", False):
        names = (value for name, value in _METAVARS.items() if name in kind.name)
        parameter.metavar = next(names, None)
    if hasattr(kind, "_describe_range"):
        text = _range(kind.min, kind.max)
        kind._describe_range = lambda: text


def _without_required(record: tuple[str, str] | None) -> tuple[str, str] | None:
    return None if record is None else (record[0], re.sub(r"\s*\[required\]$", "", record[1]))


def _range(least: float | None, most: float | None) -> str:
    """Describes a range of numbers.

    Examples
    --------
    >>> _range(1, 65535), _range(0, 2**63 - 1), _range(None, 5)
    ('1 to 65535', 'at least 0', 'at most 5')
    """
    if most is None or most == LAST_SEED:
        return f"at least {least:g}"
    return f"at most {most:g}" if least is None else f"{least:g} to {most:.15g}"


def application(
    entries: Mapping[str, Any], guard: Callable[[Any], Any], *, help: str, name: str | None = None, epilog: str = ""
) -> typer.Typer:
    """Returns a group of these commands; ``guard`` wraps the function of each."""
    return typer.Typer(
        name=name,
        cls=type("Commands", (Commands,), {"entries": entries, "guard": staticmethod(guard)}),
        help=help,
        epilog=epilog or None,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings=HELP,
    )


def _with_values(args: list[str]) -> list[str]:
    """Returns the arguments. An option that is given without its optional value gets an empty one."""
    if args[:1] and args[0] in ALONE and (len(args) == 1 or args[1].startswith("-")):
        return [args[0], "", *args[1:]]
    return args


def _nothing() -> None:
    pass


def _named(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


@contextmanager
def _escaped() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if isinstance(message := getattr(error, "message", None), str):
            message = message or getattr(getattr(error, "param", None), "help", None) or ""
            message = re.sub(r"is not a valid int(eger)?( range)?\.", "is not a whole number.", message)
            message = re.sub(r"is not a valid float( range)?\.", "is not a number.", message)
            message = re.sub(r"is not in the range (.*)\.", r"is out of range: give \1.", message)
            error.message = printable(message, keep="\n")  # type: ignore[attr-defined]
        raise
