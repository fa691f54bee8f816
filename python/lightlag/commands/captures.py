"""The options of ``lightlag run`` that ask for captures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lightlag.commands.application import Command
from lightlag.errors import InputError

if TYPE_CHECKING:
    from lightlag import _engine
    from lightlag.results.result import Result

__all__ = [
    "Acks",
    "Ipv6",
    "OptionalPlaces",
    "Pcap",
    "PcapComments",
    "PcapFlow",
    "changes",
    "check",
    "check_acks",
    "spool",
    "write_acks",
]

EVERY_END = ""
"""The value of ``--pcap`` without one."""

Pcap = Annotated[
    list[str] | None,
    typer.Option(
        "--pcap",
        metavar="[PLACES]",
        help='Write pcapng files: of these nodes ("a"), link directions ("a->b") and radios ("a@medium"), with commas '
        "between or repeated; alone, of both ends of every flow.",
    ),
]
PcapFlow = Annotated[
    list[str] | None,
    typer.Option("--pcap-flow", metavar="NAMES", help="Only packets of these flows, with commas between or repeated."),
]
PcapComments = Annotated[
    bool, typer.Option("--pcap-comments", help="Comments at packets: the sender's window, why a packet was dropped.")
]
Ipv6 = Annotated[bool, typer.Option("--ipv6", help="Packets of IPv6, whose headers are 20 bytes longer.")]


class OptionalPlaces(Command):
    """A command whose ``--pcap`` and ``--acks`` may stand alone: at the end, before another option or before FILE."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        parsed: list[str] = super().parse_args(ctx, with_value(with_file(args, self._with_value())))
        return parsed

    def _with_value(self) -> frozenset[str]:
        """The options that take a value."""
        return frozenset(name for one in self.params if not getattr(one, "is_flag", True) for name in one.opts)


Acks = Annotated[
    str | None,
    typer.Option(
        "--acks",
        metavar="[FILE]",
        help="Record each ACK that a sender takes: in the results folder, and in this CSV file if one is named.",
    ),
]


ALONE = ("--pcap", "--acks")
"""Options that may stand alone."""


def with_file(args: list[str], with_value: Collection[str]) -> list[str]:
    """The arguments, with an empty value for the ``--pcap`` or ``--acks`` that would else take the only FILE.

    Parameters
    ----------
    with_value
        Options whose next word is their value.

    Examples
    --------
    >>> with_file(["--pcap", "geo.toml", "-s", "seed=2"], {"--pcap", "-s"})
    ['--pcap', '', 'geo.toml', '-s', 'seed=2']
    >>> with_file(["geo.toml", "--pcap", "client"], {"--pcap"})
    ['geo.toml', '--pcap', 'client']
    """
    swallowed, at = None, 0
    while at < len(args):
        word = args[at]
        if word == "--" or not word.startswith("-") or word == "-":
            return args
        if word in with_value and at + 1 < len(args) and not (word in ALONE and args[at + 1].startswith("-")):
            if word in ALONE and args[at + 1] and swallowed is None:
                swallowed = at
            at += 1
        at += 1
    return args if swallowed is None else [*args[: swallowed + 1], EVERY_END, *args[swallowed + 1 :]]


def with_value(args: list[str]) -> list[str]:
    """The arguments, with an empty value for each ``--pcap`` and ``--acks`` that has none.

    Examples
    --------
    >>> with_value(["geo", "--pcap", "--quiet"])
    ['geo', '--pcap', '', '--quiet']
    >>> with_value(["geo", "--pcap", "client"])
    ['geo', '--pcap', 'client']
    """
    given = []
    for at, argument in enumerate(args):
        given.append(argument)
        alone = at + 1 == len(args) or args[at + 1].startswith("-")
        if argument in ALONE and alone:
            given.append(EVERY_END)
    return given


def changes(places: list[str] | None, flows: list[str] | None, comments: bool, ipv6: bool) -> list[tuple[str, str]]:
    """The changes of the options to a scenario."""
    changed = [("ip", "v6")] if ipv6 else []
    if places is None:
        if flows or comments:
            raise InputError("--pcap-flow and --pcap-comments say more about --pcap; add it")
        return changed
    from lightlag.scenario import toml_value

    pcap = {"at": _names(places), "flows": _names(flows or []), "comments": comments}
    return [*changed, ("record.pcap", toml_value(pcap))]


def check(scenario: _engine.Scenario, folder: Path | None) -> None:
    """Fails if there is no folder for captures."""
    if scenario.is_captured and folder is None:
        raise InputError("captures are written to a results folder; name one with --out")


def spool(scenario: _engine.Scenario, work: Path | None) -> Path | None:
    """The folder of captures until they move to the results, on the same disk, so that nothing is copied.

    Parameters
    ----------
    work
        A folder that goes when the command ends; made if it is needed.
    """
    if not scenario.is_captured or work is None:
        return None
    work.mkdir()
    return work


def _names(given: list[str]) -> list[str]:
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def check_acks(path: Path, force: bool, inputs: Sequence[Path]) -> None:
    """Fails if the ACKs of a run must not be written to a file.

    Raises
    ------
    FileExistsError, FolderError
        As :func:`lightlag.files.output.check_file`.
    """
    from lightlag.files.output import check_file
    from lightlag.records.source import columns_of

    check_file(path, force=force, inputs=inputs, header=",".join(columns_of("acks")))


def write_acks(result: Result, path: Path) -> None:
    """Writes the ACKs of a run as CSV."""
    from lightlag.files.output import new_file

    with new_file(path) as partial:
        result.acks.write_csv(partial)
