"""``lightlag orbit``: the sky of a scenario without a run."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lightlag.commands import figures
from lightlag.commands.figures import Font, Format, Height, Style, Titles, Width
from lightlag.commands.numbers import finite
from lightlag.errors import InputError
from lightlag.text.terminal import plain, say

if TYPE_CHECKING:
    import polars as pl

    from lightlag.constellation.satellites import Sky
    from lightlag.text.table import Row

Pair = Annotated[
    str | None,
    typer.Option("--pair", metavar="A,B", help="Two stations: their way over time. Default: the first two."),
]


def orbit(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="A scenario file with a constellation, or a preset.")
    ],
    pair: Pair = None,
    station: Annotated[
        str | None, typer.Option("--station", metavar="NAME", help="The passes over this station, and its sky.")
    ] = None,
    seconds: Annotated[
        float,
        typer.Option("--seconds", metavar="S", help="Seconds from the start on.", min=1.0, max=1e6, callback=finite),
    ] = 600.0,
    at: Annotated[
        float,
        typer.Option("--at", metavar="S", help="Seconds of pictures of one moment.", min=0.0, max=1e6, callback=finite),
    ] = 0.0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Write tables as Parquet, figures, and a player in HTML here, a new folder.",
        ),
    ] = None,
    format: Format = None,
    style: Style = "plain",
    width: Width = None,
    height: Height = None,
    font: Font = None,
    titles: Titles = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    r"""Look at a constellation: the way of a pair of stations, its round trips and handovers, passes, pictures.

    \b
    lightlag orbit starlink-550                              the way between the first two stations
    lightlag orbit starlink-550 --pair London,Singapore --seconds 3600
    lightlag orbit kuiper-630 --station Manila               who is in its sky, and for how long
    lightlag orbit iridium -o iridium-sky                    globe (also as a page that plays), map, sky, timeline
    lightlag orbit iridium -o iridium-sky --style ieee --format pgf
    """
    from lightlag.constellation.satellites import sky as sky_of
    from lightlag.drawing import looks
    from lightlag.files.writing import check_folder, new_folder

    look = looks.of(style, width=width, height=height, font=font, titles=titles)
    suffix = figures.suffix(format) or ".pdf"
    figures.check(out, format, look)
    if out is not None:
        check_folder(out)
    sky = sky_of(scenario)
    start, end = _pair(pair, sky)
    way = sky.way(start, end, seconds, min(1.0, seconds / 100))
    summary = _summary(sky, start, end, seconds, way)
    passes = None if station is None else sky.passes(station, seconds)
    try:
        if out is not None:
            with looks.within(look), new_folder(out, force=False) as partial:
                _write(sky, start, end, station, seconds, at, partial, suffix, way, passes)
    finally:
        if as_json:
            table = None if passes is None else passes.to_dicts()
            print(plain(json.dumps(summary | ({} if table is None else {"passes": table}))))
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


def _summary(sky: Sky, start: str, end: str, seconds: float, way: pl.DataFrame) -> dict[str, object]:
    """The summary of a pair; the handovers of an end are changes of the satellite that it uses."""
    courses = sky.courses(start, end, seconds)
    ends = [(nodes[1], nodes[-2]) for _, nodes in courses if nodes]
    times = [since for since, _ in courses] + [seconds]
    out = sum(times[at + 1] - times[at] for at, (_, nodes) in enumerate(courses) if not nodes)
    turns = [sum(a[side] != b[side] for a, b in itertools.pairwise(ends)) for side in (0, 1)]
    rtt = way["rtt_ms"]
    return {
        "satellites": len(sky.satellites),
        "links": sky.link_count,
        "start": sky.start,
        "from": start,
        "to": end,
        "seconds": seconds,
        "rtt_ms": {"min": rtt.min(), "mean": rtt.mean(), "max": rtt.max()},
        "hops": {"min": way["hops"].min(), "max": way["hops"].max()},
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
        "way": f"{summary['from']} – {summary['to']}",
        "RTT min": f"{_number(rtt['min'])} ms",
        "mean": f"{_number(rtt['mean'])} ms",
        "max": f"{_number(rtt['max'])} ms",
        "links": f"{hops['min']} to {hops['max']}",
        "changes": str(summary["changes"]),
        "handovers a minute": " and ".join(f"{turn:.2f}" for turn in turns),
        "no way": f"{summary['outage_s']:.1f} s",
    }
    title = f"{sky.about()}, {summary['seconds']:g} s from {summary['start']} on"
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
    way: pl.DataFrame,
    passes: pl.DataFrame | None,
) -> None:
    from lightlag.constellation import plot as constellation_plot

    way.write_parquet(out / "way.parquet")
    constellation_plot.timeline(sky, start, end, seconds, min(1.0, seconds / 600)).save(out / f"timeline{suffix}")
    constellation_plot.globe(sky, at, ways=[(start, end)]).save(out / f"globe{suffix}")
    constellation_plot.map_of(sky, at).save(out / f"map{suffix}")
    constellation_plot.sky_view(sky, station or start, at).save(out / f"sky{suffix}")
    title = f"{start} – {end} through {len(sky.satellites)} satellites from {sky.start} on"
    sky.player(out / "globe.html", pairs=[(start, end)], until_s=seconds, title=title)
    if passes is not None:
        passes.write_parquet(out / "passes.parquet")
