"""``lightlag orbit``: the constellation of a scenario without a run."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lightlag.commands import figures
from lightlag.commands.figures import Dpi, Font, Format, Height, Style, Titles, Width
from lightlag.commands.numbers import finite
from lightlag.errors import InputError
from lightlag.text.terminal import print_json, say

if TYPE_CHECKING:
    import polars as pl

    from lightlag.constellation.satellites import Sky
    from lightlag.text.table import Row

Pair = Annotated[
    str | None,
    typer.Option(
        "--pair", metavar="A,B", help="Two stations, whose path is computed over time. Default: the first two."
    ),
]


def orbit(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A scenario file with a constellation, or a preset.")
    ],
    pair: Pair = None,
    station: Annotated[
        str | None,
        typer.Option("--station", metavar="NAME", help="Passes over this station, and the satellites visible from it."),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds",
            metavar="S",
            help="Seconds to compute, from the start of the scenario.",
            min=1.0,
            max=1e6,
            callback=finite,
        ),
    ] = 600.0,
    at: Annotated[
        float,
        typer.Option(
            "--at",
            metavar="S",
            help="Time of the figures that show one moment, in seconds.",
            min=0.0,
            max=1e6,
            callback=finite,
        ),
    ] = 0.0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="New directory for tables as Parquet, figures, and an animation as HTML.",
        ),
    ] = None,
    format: Format = None,
    style: Style = "plain",
    width: Width = None,
    height: Height = None,
    font: Font = None,
    titles: Titles = None,
    dpi: Dpi = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    r"""Inspect a constellation: the path between two stations, its round-trip times and handovers, passes, figures.

    \b
    lightlag orbit starlink-550                              the path between the first two stations
    lightlag orbit starlink-550 --pair London,Singapore --seconds 3600
    lightlag orbit kuiper-630 --station Manila               visible satellites, and for how long
    lightlag orbit iridium -o iridium-orbit                  globe (also animated), map, view from a station, timeline
    lightlag orbit iridium -o iridium-ieee --style ieee --format pgf
    """
    from lightlag.constellation.satellites import sky as sky_of
    from lightlag.drawing import looks
    from lightlag.files.writing import check_folder, new_folder

    look = looks.of(style, width=width, height=height, font=font, titles=titles, dpi=dpi)
    suffix = figures.suffix(format) or ".pdf"
    figures.check(out, format, look)
    if out is not None:
        check_folder(out)
    sky = sky_of(scenario)
    start, end = _pair(pair, sky)
    path = sky.path(start, end, seconds, min(1.0, seconds / 100))
    summary = _summary(sky, start, end, seconds, path)
    passes = None if station is None else sky.passes(station, seconds)
    try:
        if out is not None:
            with looks.within(look), new_folder(out, force=False) as partial:
                _write(sky, start, end, station, seconds, at, partial, suffix, path, passes)
    finally:
        if as_json:
            table = None if passes is None else passes.to_dicts()
            print_json(summary | ({} if table is None else {"passes": table}))
        else:
            _print(sky, summary, station, passes)
    if out is not None:
        say(f"tables and figures in {out}", file=sys.stderr if as_json else sys.stdout)


def _pair(pair: str | None, sky: Sky) -> tuple[str, str]:
    if pair is None:
        return sky.stations[0], sky.stations[1]
    names = [name.strip() for name in pair.split(",")]
    if len(names) != 2 or names[0] == names[1]:
        raise InputError(f"--pair: {pair!r} is not two stations; write A,B")
    return names[0], names[1]


def _summary(sky: Sky, start: str, end: str, seconds: float, path: pl.DataFrame) -> dict[str, object]:
    """Returns the summary of a pair of stations; a handover of a station is a change of the satellite that it uses."""
    courses = sky.path_changes(start, end, seconds)
    ends = [(nodes[1], nodes[-2]) for _, nodes in courses if nodes]
    times = [since for since, _ in courses] + [seconds]
    out = sum(times[at + 1] - times[at] for at, (_, nodes) in enumerate(courses) if not nodes)
    turns = [sum(a[side] != b[side] for a, b in itertools.pairwise(ends)) for side in (0, 1)]
    rtt = path["rtt_ms"]
    return {
        "satellites": len(sky.satellites),
        "links": sky.link_count,
        "start": sky.start,
        "from": start,
        "to": end,
        "seconds": seconds,
        "rtt_ms": {"min": rtt.min(), "mean": rtt.mean(), "max": rtt.max()},
        "hops": {"min": path["hops"].min(), "max": path["hops"].max()},
        "changes": len(courses) - 1,
        "handovers_per_minute": [60.0 * turn / seconds for turn in turns],
        "outage_s": out,
    }


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _print(sky: Sky, summary: dict[str, object], station: str | None, passes: pl.DataFrame | None) -> None:
    from lightlag.text.table import print_rows

    rtt, hops = summary["rtt_ms"], summary["hops"]
    assert isinstance(rtt, dict)
    assert isinstance(hops, dict)
    turns = summary["handovers_per_minute"]
    assert isinstance(turns, list)
    row: Row = {
        "path": f"{summary['from']} – {summary['to']}",
        "RTT min": f"{_number(rtt['min'])} ms",
        "mean": f"{_number(rtt['mean'])} ms",
        "max": f"{_number(rtt['max'])} ms",
        "links": f"{hops['min']} to {hops['max']}",
        "changes": str(summary["changes"]),
        "handovers per minute": " and ".join(f"{turn:.2f}" for turn in turns),
        "no path": f"{summary['outage_s']:.1f} s",
    }
    title = f"{sky.about()}, {summary['seconds']:g} s since {summary['start']}"
    print_rows([row], title)
    if passes is None:
        return
    shown = [
        {
            "satellite": name,
            "rise": f"{rise:.1f} s",
            "set": f"{end:.1f} s",
            "for": f"{length:.1f} s",
            "highest": f"{height:.1f}°",
        }
        for name, rise, end, length, height in passes.head(20).rows()
    ]
    print_rows(shown, f"{station}: {passes.height} passes")
    if passes.height > len(shown):
        say(f"and {passes.height - len(shown)} more passes; -o writes all")


def _write(
    sky: Sky,
    start: str,
    end: str,
    station: str | None,
    seconds: float,
    at: float,
    out: Path,
    suffix: str,
    path: pl.DataFrame,
    passes: pl.DataFrame | None,
) -> None:
    from lightlag.constellation import plot as constellation_plot

    path.write_parquet(out / "path.parquet")
    constellation_plot.timeline(sky, start, end, seconds, min(1.0, seconds / 600)).save(out / f"timeline{suffix}")
    constellation_plot.globe(sky, at, paths=[(start, end)]).save(out / f"globe{suffix}")
    constellation_plot.map_of(sky, at).save(out / f"map{suffix}")
    constellation_plot.sky_view(sky, station or start, at).save(out / f"sky{suffix}")
    title = f"{start} – {end} through {len(sky.satellites)} satellites since {sky.start}"
    sky.animation(out / "globe.html", pairs=[(start, end)], until_s=seconds, title=title)
    if passes is not None:
        passes.write_parquet(out / "passes.parquet")
