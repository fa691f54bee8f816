"""Writes the path between two nodes of a scenario over time, for real testbeds.

- ``route``: the links, constellations and media that packets cross.
- ``timetable``, ``crossing``: values of a link and of a constellation over time; ``probes`` measures what cannot be
  computed.
- ``path``: both directions of a path, which consist of these parts; ``changes``: their values in steps.
- ``mahimahi``, ``theaterq``, ``netem``, ``trace``: the forms of files.
- ``ntn``, ``sib19``: delay, Doppler and broadcast fields of the service link of a station.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lightlag.errors import InputError
from lightlag.text.terminal import meant, printable

if TYPE_CHECKING:
    from lightlag import _engine
    from lightlag.scenario.reading import ScenarioLike, Sets

__all__ = ["FORMS", "Export", "NtnOptions", "export"]

FORMS: Mapping[str, str] = {
    "mahimahi": "delivery opportunities of mm-link, in ms",
    "theaterq": "trace files of TheaterQ",
    "tc": "a shell script with commands of tc netem",
    "csv": "traces of lightlag: rate, delay and loss over time",
    "ntn": "delay, Doppler and SIB19 of a station's satellite, for 3GPP NTN",
}
"""Forms of an export, with a description."""

ENDS: Mapping[str, tuple[str, ...]] = {
    "mahimahi": (".up", ".down"),
    "theaterq": ("-forward.csv", "-backward.csv"),
    "tc": (".sh",),
    "csv": ("-forward.csv", "-backward.csv"),
    "ntn": (".csv", ".json"),
}
"""Ends of the names of the files of each form; of the last one, only one file is written."""

_WRITERS = {"mahimahi": "mahimahi", "theaterq": "theaterq", "tc": "netem", "csv": "trace"}


@dataclass(frozen=True)
class NtnOptions:
    """Options of the form ``ntn``.

    Attributes
    ----------
    carrier
        Carrier frequency of the service link, with its unit.
    validity_s
        Time for which a terminal may use the fields of a row; a value of ``ntn-UlSyncValidityDuration``.
    reference
        Reference point of uplink timing, ``gateway`` or ``satellite``.
    """

    carrier: str = "2 GHz"
    validity_s: int = 5
    reference: str = "gateway"


@dataclass(frozen=True)
class Export:
    """The files of an export.

    Attributes
    ----------
    form
        One of :data:`FORMS`.
    name
        Name of the files without their ends: scenario and nodes.
    files
        Contents by the end of the file name.
    about
        What the files hold.
    """

    form: str
    name: str
    files: Mapping[str, str]
    about: str

    def save(self, path: str | os.PathLike[str] | None = None, *, force: bool = False) -> list[Path]:
        """Writes the files and returns their paths.

        Parameters
        ----------
        path
            Name of the file; of several files, their common start. By default the name of the export.
        force
            Replace files that exist.

        Raises
        ------
        FileExistsError
            If a file exists.
        """
        from lightlag.files.output import new_file

        paths = self.paths(path)
        check_paths(paths, force=force)
        for file, text in paths.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            with new_file(file) as partial:
                partial.write_text(text, "utf-8", newline="\n")
                if file.suffix == ".sh":
                    partial.chmod(0o755)
        return list(paths)

    def paths(self, path: str | os.PathLike[str] | None = None) -> dict[Path, str]:
        """Returns the paths of the files with their contents."""
        return {file: self.files[end] for end, file in paths_of(self.form, self.name, path).items()}


def paths_of(form: str, name: str, path: str | os.PathLike[str] | None) -> dict[str, Path]:
    """Returns the path of each file of a form by the end of its name.

    Raises
    ------
    InputError
        If several files are to go to one pipe or device.
    """
    ends: Sequence[str] = ENDS[form]
    if form == "ntn":
        suffix = "" if path is None else Path(path).suffix
        ends = [suffix if suffix in ends else ends[0]]
    return named(ends, name, path)


def named(ends: Sequence[str], name: str, path: str | os.PathLike[str] | None) -> dict[str, Path]:
    """Returns the path of each file by its end. A single file has exactly the given name, if there is one.

    Examples
    --------
    >>> [str(path) for path in named([".up", ".down"], "geo-a-b", None).values()]
    ['geo-a-b.up', 'geo-a-b.down']
    >>> [str(path) for path in named([".up", ".down"], "geo-a-b", "cell.up").values()]
    ['cell.up', 'cell.down']
    """
    from lightlag.files.output import is_stream

    if path is None:
        return {end: Path(f"{name}{end}") for end in ends}
    text = str(path)
    if len(ends) == 1:
        return {end: Path(text) for end in ends}
    if text.endswith(("/", os.sep)) or Path(text).is_dir():
        raise InputError(f"{printable(text)}: is a directory; name the common start of {len(ends)} files in it")
    if is_stream(Path(text)):
        raise InputError(f"{printable(text)}: cannot hold {len(ends)} files; name their common start with --out")
    start = next((text.removesuffix(end) for end in ends if text.endswith(end) and text != end), text)
    start = start.removesuffix(".csv") if all(end.endswith(".csv") for end in ends) else start
    return {end: Path(f"{start}{end}") for end in ends}


def check_paths(paths: Iterable[Path], *, force: bool) -> None:
    """Fails if a file must not be written."""
    from lightlag.files.output import check_file, is_stream

    for path in paths:
        if not is_stream(path) and path.exists() and not path.is_dir() and not force:
            raise FileExistsError(f"{printable(path)}: exists already; replace it with --force, or name another --out")
        if path.parent.is_dir():
            check_file(path, force=True)


def check_form(form: str) -> None:
    """Fails if a form does not exist."""
    if form not in FORMS:
        hint = meant(form, FORMS)
        raise InputError(f'"{printable(form)}" is not a form of an export; {hint}there are {", ".join(FORMS)}')


def export(
    scenario: ScenarioLike,
    start: str,
    end: str,
    form: str,
    *,
    step: str = "100 ms",
    duration: str | None = None,
    sets: Sets = (),
    measure: bool = False,
    ntn: NtnOptions | None = None,
) -> Export:
    """Returns the path between two nodes over time in a form for a testbed.

    Parameters
    ----------
    scenario
        A scenario in any form: a file, the name of a preset, a :class:`Network`.
    start, end
        Nodes at the ends of the path. For ``ntn``, the station with the terminal, and the gateway.
    form
        One of :data:`FORMS`.
    step
        Time between two values. ``mahimahi`` always has steps of 1 ms, unless the path is measured.
    duration
        Duration that replaces the duration of the scenario.
    sets
        Further changes of the scenario.
    measure
        Measure the path in a run, although it could be computed.
    ntn
        Options of the form ``ntn``.

    Raises
    ------
    InputError
        If a node, the form or a value is not valid, or if there is no path.

    Examples
    --------
    >>> import lightlag as ll
    >>> script = ll.export("geo", "client", "server", "tc")
    >>> script.files[".sh"].splitlines()[-3]
    'tc qdisc replace dev "$backward" root handle 1: netem delay 297346.667us rate 20000000bit loss 0.01% limit 1488'
    """
    from lightlag.exports import mahimahi
    from lightlag.exports.path import path_of, times_of
    from lightlag.exports.quantities import seconds
    from lightlag.scenario.reading import read_scenario

    check_form(form)
    changes = [*(sets.items() if isinstance(sets, Mapping) else sets)]
    changes += [] if duration is None else [("duration", duration)]
    read = read_scenario(scenario, [(key, value if isinstance(value, str) else str(value)) for key, value in changes])
    step_s = _step(step)
    times_of(seconds(read.duration), step_s)
    name = "-".join(part.replace("/", "-").replace(" ", "-") for part in (read.name, start, end))
    if form == "ntn":
        return _ntn(read, start, end, step_s, name, ntn or NtnOptions())
    path = path_of(read, start, end, step_s, measure=measure)
    files = importlib.import_module(f"lightlag.exports.{_WRITERS[form]}").files(path)
    about = f"{path.duration_s:g} s of {start} -> {end}, {path.origin}"
    if form == "mahimahi":
        about += f"; it has rates alone, for the rest: {mahimahi.shells(path)}"
    return Export(form, name, files, about)


def _step(step: str) -> float:
    from lightlag.exports.quantities import seconds

    try:
        return seconds(step)
    except ValueError as error:
        raise InputError(f'step: {error}; write a time above 0, such as "100 ms"') from None


def _ntn(scenario: _engine.Scenario, start: str, end: str, step_s: float, name: str, options: NtnOptions) -> Export:
    from lightlag.constellation.satellites import Sky
    from lightlag.exports.ntn import Profile, profile
    from lightlag.exports.path import times_of
    from lightlag.exports.quantities import hertz, seconds

    engine_sky = scenario.sky()
    if engine_sky is None:
        raise InputError("the scenario has no constellation, which ntn needs; write [constellation] and [[stations]]")
    if start == end:
        raise InputError(f'--from and --to: both are "{start}"; name two stations')
    duration = seconds(scenario.duration)
    found = profile(
        Sky(engine_sky),
        start,
        end,
        times_of(duration, step_s),
        carrier_hz=hertz(options.carrier),
        validity_s=options.validity_s,
        reference=options.reference,
    )
    found = Profile(found.rows, {"scenario": scenario.name, "step_s": step_s, **found.about})
    about = f"{duration:g} s of {start} and its satellite, gateway {end}, at {options.carrier}"
    return Export("ntn", name, {".csv": found.csv(), ".json": found.json()}, about)
