"""The options of ``lightlag run`` that ask for captures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from lightlag.errors import InputError

if TYPE_CHECKING:
    from lightlag import _engine
    from lightlag.results import Result

__all__ = [
    "Acks",
    "Ipv6",
    "OptionalPlaces",
    "Pcap",
    "PcapComments",
    "PcapFlow",
    "changes",
    "check",
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


class OptionalPlaces(TyperCommand):
    """A command whose ``--pcap`` and ``--acks`` may stand alone: at the end or in front of another option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        parsed: list[str] = super().parse_args(ctx, with_value(args))
        return parsed


Acks = Annotated[
    str | None,
    typer.Option(
        "--acks",
        metavar="[FILE]",
        help="Record each ACK that a sender takes: in the results folder, and in this CSV file if one is named.",
    ),
]


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
        if argument in ("--pcap", "--acks") and alone:
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


def write_acks(result: Result, path: Path) -> None:
    """Writes the ACKs of a run as CSV."""
    from lightlag._writing import new_file

    with new_file(path) as partial:
        result.acks.write_csv(partial)
