"""A constellation over time as one self-contained HTML page: a turning globe, and the paths of pairs of stations.

The page holds positions a few seconds apart, and interpolates between them along the sphere.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from lightlag import analyse
from lightlag.constellation.ephemeris import Ephemeris, time_of_run
from lightlag.constellation.plot import EARTH, _unit, courses_of_flows
from lightlag.drawing import player as drawn
from lightlag.errors import InputError
from lightlag.records.records import Records

__all__ = ["MOST_BYTES", "page", "player"]

MOST_BYTES = 4_000_000
"""Maximum size in bytes of the positions on a page."""
_USUAL_BYTES = 800_000
_LONGEST_STEP = 120.0
"""Maximum seconds between two stored positions. At 120 s a low satellite is shown within 2 km of its position."""
_SAMPLES = 600
"""Number of samples of the round trip of a pair."""
_INTERVALS = 120
"""Number of intervals of the goodput."""

_LIGHT = {"title": "round trip at the speed of light", "short": "light", "unit": "ms", "zero": False}
_SRTT = {"title": "round trip: SRTT; thin line: at the speed of light", "short": "SRTT", "unit": "ms", "zero": False}
_GOODPUT = {"title": "goodput", "short": "goodput", "unit": "Mbit/s", "zero": True}
_CWND = {"title": "cwnd", "short": "cwnd", "unit": "segments", "zero": True}


def page(
    sky: Ephemeris,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    until_s: float = 60.0,
    step_s: float | None = None,
    title: str = "Constellation",
    result: Records | None = None,
) -> str:
    """Returns the animation as a complete page.

    Parameters
    ----------
    pairs, until_s, step_s, result
        As in :func:`player`.
    """
    return drawn.page(_recording(sky, pairs, until_s, step_s, title, result))


def player(
    sky: Ephemeris,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    until_s: float = 60.0,
    step_s: float | None = None,
    title: str = "Constellation",
    result: Records | None = None,
) -> str:
    """Returns the animation as part of a longer page, in a frame.

    Parameters
    ----------
    pairs
        Pairs of stations whose paths are shown; by default the first station with each of the others.
    until_s
        End of the animation, in seconds since the start.
    step_s
        Seconds between two stored positions, up to 120; by default 10, or more where the page would grow large.
        Paths change at their own times, whatever the step.
    result
        A run over this constellation: its first flows and their paths are shown instead of pairs, with their round
        trips, goodput and windows, as far as these were recorded. The animation ends where the run ended, or where it
        would grow too large.
    """
    return drawn.framed(_recording(sky, pairs, until_s, step_s, title, result))


def _recording(
    sky: Ephemeris,
    pairs: Sequence[tuple[str, str]],
    until_s: float,
    step_s: float | None,
    title: str,
    result: Records | None,
) -> dict[str, Any]:
    """Returns the content of the page, as ``SkyRecording`` in ``studio/src/embed/recording.ts`` describes it."""
    cut = ""
    if result is not None:
        until_s = result.simulated_s
        if step_s is None and until_s > (most := _longest(len(sky.satellites) + len(sky.stations))):
            cut = f"The page shows only the first {most:g} s of {until_s:g} s."
            until_s = most
    times = _knots(len(sky.satellites) + len(sky.stations), until_s, step_s)
    if result is not None:
        ways, charts = _of_run(sky, result, until_s)
    else:
        between = list(pairs) or [(sky.stations[0], other) for other in sky.stations[1:]]
        ways = [_way(sky, start, end, until_s) for start, end in between]
        light = [{"way": at, "values": _light(sky, *pair, until_s)} for at, pair in enumerate(between)]
        charts = [{**_LIGHT, "series": light}]
    nodes = np.stack([_nodes(sky, time) for time in times])
    unit = float(np.abs(nodes).max()) / 32767
    return {
        "kind": "sky",
        "title": title,
        "note": cut,
        "start": sky.start,
        "until": until_s,
        "step": times[1],
        "knots": len(times),
        "satellites": sky.satellites,
        "stations": sky.stations,
        "unit": unit,
        "places": base64.b64encode(np.round(nodes / unit).astype("<i2").tobytes()).decode(),
        "links": _links(sky, times),
        "ways": ways,
        "charts": charts,
    }


def _knots(nodes: int, until_s: float, step_s: float | None) -> list[float]:
    """Returns the times of stored positions, from 0 to the first multiple of the step at or after the end."""
    if time_of_run(until_s) == 0.0:
        raise InputError("until_s: 0 s is not a valid duration; write seconds above 0")
    each = 8 * nodes  # Three numbers of two bytes, which take four thirds in base 64.
    if step_s is None:
        step_s = min(max(10.0, until_s * each / _USUAL_BYTES), _LONGEST_STEP)
    if not 0.0 < step_s <= _LONGEST_STEP:
        raise InputError(f"step_s: {step_s:g} s between two positions; write more than 0 and at most {_LONGEST_STEP:g}")
    count = math.ceil(until_s / step_s) + 1
    if count * each > MOST_BYTES:
        raise InputError(
            f"until_s: {count} times {nodes} positions take {count * each / 1e6:.3g} MB, more than "
            f"{MOST_BYTES / 1e6:g}; choose a longer step_s or an earlier end"
        )
    return [at * step_s for at in range(count)]


def _longest(nodes: int) -> float:
    """Returns the maximum duration of a page in seconds."""
    return max(MOST_BYTES // (8 * nodes) - 1, 1) * _LONGEST_STEP


def _nodes(sky: Ephemeris, time_s: float) -> Any:
    """Returns the positions of all nodes, in Earth radii."""
    places = sky.station_coordinates(time_s)
    return np.concatenate([sky.positions(time_s) / EARTH, _unit(places[:, 0], places[:, 1])])


def _links(sky: Ephemeris, times: Sequence[float]) -> list[int]:
    """Returns the links between satellites, four numbers each.

    These are the indices of both satellites, and the indices of the times when the link comes up and goes down.
    """
    done: list[int] = []
    since: dict[tuple[int, int], int] = {}
    for at, time in enumerate(times):
        now = set(sky.isls(time))
        for link in sorted(set(since) - now):
            done += [*link, since.pop(link), at]
        for link in now - set(since):
            since[link] = at
    for link, first in sorted(since.items()):
        done += [*link, first, len(times)]
    return done


def _way(sky: Ephemeris, start: str, end: str, until_s: float) -> dict[str, Any]:
    """Returns the paths between two stations, each with its start time."""
    courses = [[round(since, 3), nodes] for since, nodes in sky.path_changes(start, end, until_s)]
    ends = [sky.stations.index(start), sky.stations.index(end)]
    return {"name": f"{start} – {end}", "ends": ends, "courses": courses}


def _light(sky: Ephemeris, start: str, end: str, until_s: float) -> list[float | None]:
    """Returns samples of the round trip at the speed of light in ms."""
    return sky.path(start, end, until_s, until_s / _SAMPLES)["rtt_ms"].round(3).to_list()


def _of_run(sky: Ephemeris, result: Records, until_s: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the first flows of a run, each with its paths, and the charts of these flows."""
    # Paths that depend on the load differ from the paths of a constellation without traffic.
    has_light = not result.parts["scenario"]["constellation"].get("load_penalty", 0)
    ways: list[dict[str, Any]] = []
    light_series: list[dict[str, Any]] = []
    for at, (name, courses) in enumerate(courses_of_flows(sky, result).items()):
        way: dict[str, Any] = {"name": name, "courses": [[round(since, 3), nodes] for since, nodes in courses]}
        if nodes := next((nodes for _, nodes in courses if nodes), None):
            way["ends"] = [nodes[0] - len(sky.satellites), nodes[-1] - len(sky.satellites)]
            if has_light:
                rtt = _light(sky, sky.name(nodes[0]), sky.name(nodes[-1]), until_s)
                light_series.append({"way": at, "values": rtt, "thin": True})
        ways.append(way)
    trace = result.trace()
    if trace.is_empty():
        return ways, [{**_LIGHT, "series": light_series}]
    if "leg" in trace.columns:
        trace = trace.filter(trace["leg"] == 1)
    rates = analyse.goodput(result.trace("goodput"), max(until_s / _INTERVALS, 0.1), until_s)
    charts = [
        {**_SRTT, "series": [*light_series, *_sampled(trace, "srtt_s", 1e3, ways, until_s)]},
        {**_GOODPUT, "series": _sampled(rates, "goodput_bps", 1e-6, ways, until_s)},
        {**_CWND, "series": _sampled(trace, "cwnd_segments", 1.0, ways, until_s)},
    ]
    return ways, charts


def _sampled(
    table: pl.DataFrame, column: str, factor: float, ways: Sequence[dict[str, Any]], until_s: float
) -> list[dict[str, Any]]:
    """Returns a column of a table at equal intervals, for each path: the last value before each time."""
    times = np.linspace(0.0, until_s, _SAMPLES + 1)
    series = []
    for at, way in enumerate(ways):
        rows = table.filter((table["flow"].cast(pl.String) == way["name"]) & table[column].is_not_null())
        values = rows[column].to_numpy() * factor
        place = np.searchsorted(rows["time_s"].to_numpy(), times, side="right") - 1
        known = [float(f"{values[row]:.5g}") if row >= 0 else None for row in place]
        series.append({"way": at, "values": known})
    return series
