"""The options of ``lightlag run`` that request captures."""

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
    "Qlog",
    "QlogSchema",
    "changes",
    "check",
    "check_acks",
    "check_qlog",
    "spool",
    "write_acks",
]

EVERY_END = ""
"""Value of ``--pcap`` if it is given without one: both endpoints of every flow."""

Pcap = Annotated[
    list[str] | None,
    typer.Option(
        "--pcap",
        metavar="[PLACES]",
        help='Write pcapng files of these nodes ("a"), link directions ("a->b") and radios ("a@medium"), separated by '
        "commas or repeated; without a value, of both endpoints of every flow.",
    ),
]
PcapFlow = Annotated[
    list[str] | None,
    typer.Option("--pcap-flow", metavar="NAMES", help="Only packets of these flows, separated by commas or repeated."),
]
PcapComments = Annotated[
    bool, typer.Option("--pcap-comments", help="Comments at packets: the sender's window, why a packet was dropped.")
]
Qlog = Annotated[
    Path | None,
    typer.Option(
        "--qlog",
        metavar="PATH",
        help="Write logs of the connections in qlog 0.3, for qvis: two files per flow in a directory, or one "
        "FILE.sqlog of the sender. Includes --pcap --pcap-comments.",
    ),
]
QlogSchema = Annotated[
    str | None,
    typer.Option(
        "--qlog-schema",
        metavar="0.3|main-14",
        help="Form of the logs of QUIC: qlog 0.3, or draft-ietf-quic-qlog-main-schema-14. Needs --qlog.",
    ),
]
Ipv6 = Annotated[bool, typer.Option("--ipv6", help="Packets of IPv6, whose headers are 20 bytes longer.")]


class OptionalPlaces(Command):
    """A command whose ``--pcap`` and ``--acks`` may have no value: at the end, before another option or before FILE."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        parsed: list[str] = super().parse_args(ctx, with_value(with_file(args, self._with_value())))
        return parsed

    def _with_value(self) -> frozenset[str]:
        """Names of the options that take a value."""
        return frozenset(name for one in self.params if not getattr(one, "is_flag", True) for name in one.opts)


Acks = Annotated[
    str | None,
    typer.Option(
        "--acks",
        metavar="[FILE]",
        help="Record each ACK that a sender receives, in the results directory and, if FILE is given, as CSV.",
    ),
]


ALONE = ("--pcap", "--acks")
"""Options that may be given without a value."""


def with_file(args: list[str], with_value: Collection[str]) -> list[str]:
    """Returns the arguments. A ``--pcap`` or ``--acks`` that would take the only FILE as its value gets an empty one.

    Parameters
    ----------
    with_value
        Options whose value is the next argument.

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
    """Returns the arguments. Each ``--pcap`` and ``--acks`` without a value gets an empty one.

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


def changes(
    places: list[str] | None,
    flows: list[str] | None,
    comments: bool,
    ipv6: bool,
    qlog: Path | None,
    schema: str | None,
) -> list[tuple[str, str]]:
    """Returns the changes to a scenario that the options request."""
    from lightlag.qlog import changes as changes_of_logs

    if qlog is None and schema is not None:
        raise InputError("--qlog-schema needs --qlog; add it")
    logged = [] if qlog is None else changes_of_logs(schema)
    changed = [("ip", "v6")] if ipv6 else []
    if places is None:
        if flows or comments:
            raise InputError("--pcap-flow and --pcap-comments need --pcap; add it")
        return [*changed, *logged]
    from lightlag.scenario import toml_value

    pcap = {"at": _names(places), "flows": _names(flows or []), "comments": comments}
    return [*changed, ("record.pcap", toml_value(pcap)), *logged]


def check(scenario: _engine.Scenario, folder: Path | None, qlog: Path | None, *, wanted: bool) -> None:
    """Fails if there is no directory for captures, or the scenario cannot be logged.

    Parameters
    ----------
    wanted
        Whether captures are requested themselves, not only for `qlog`.
    """
    if scenario.is_captured and folder is None and (wanted or qlog is None):
        raise InputError("captures are written to a results directory; name one with --out")
    if qlog is not None:
        from lightlag.qlog import check_scenario

        check_scenario(scenario, qlog)


def spool(scenario: _engine.Scenario, work: Path | None) -> Path | None:
    """Creates the temporary directory of captures and returns it.

    It is on the disk of the results, so that they are moved, not copied.

    Parameters
    ----------
    work
        A directory that is deleted when the command ends; created if needed.
    """
    if not scenario.is_captured or work is None:
        return None
    work.mkdir()
    return work


def _names(given: list[str]) -> list[str]:
    return [name.strip() for text in given for name in text.split(",") if name.strip()]


def check_qlog(path: Path, force: bool, inputs: Sequence[Path]) -> None:
    """Fails if the logs of a run must not be written to a path.

    Raises
    ------
    FileExistsError, FolderError
        As :func:`lightlag.qlog.check`.
    """
    from lightlag.qlog import check as check_path

    check_path(path, force=force, inputs=inputs)


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
    """Writes the ACKs of a run as a CSV file."""
    from lightlag.files.output import new_file

    with new_file(path) as partial:
        result.acks.write_csv(partial)
