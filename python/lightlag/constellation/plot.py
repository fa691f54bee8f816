"""Plots of constellations: a globe, ground tracks on a map, the view from a station, and paths over time.

The outlines of land are from Natural Earth at 1:110,000,000, which is in the public domain.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patheffects import withStroke

from lightlag import analyse
from lightlag._renamed import former_keywords
from lightlag.constellation.ephemeris import Ephemeris, Floats, geographic, times_until
from lightlag.drawing import films, framing, looks, scales, style
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.errors import InputError
from lightlag.records.records import Records
from lightlag.text.terminal import printable

__all__ = ["MOST_PICTURES", "film", "globe", "handovers", "map_of", "sky_view", "timeline"]

MOST_PICTURES = 5000
"""Maximum number of frames of a film."""
_POINTS = 4000
EARTH = 6_371_000.0
"""The mean radius of the Earth in metres."""
LAND = "#d9d4c7"
SEA = "#f4f7fa"


@functools.cache
def _land() -> list[Floats]:
    """Returns the outlines of land: longitude and latitude in degrees, a row for each corner."""
    text = Path(__file__).with_name("land.json").read_text("utf-8")
    return [np.asarray(ring, dtype=np.float64) for ring in json.loads(text)["rings"]]


def _unit(north: Floats, east: Floats) -> Floats:
    """Returns the directions from the centre of the Earth to locations in degrees, one row each."""
    north, east = np.radians(north), np.radians(east)
    return np.stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], axis=1)


def _seen_from(north: float, east: float) -> Floats:
    """Returns the axes of a view from above a location: to the right, up, and towards the eye."""
    eye = _unit(np.asarray([north]), np.asarray([east]))[0]
    right = np.asarray([-np.sin(np.radians(east)), np.cos(np.radians(east)), 0.0])
    return np.stack([right, np.cross(eye, right), eye])


def view_of(places: Floats) -> tuple[float, float]:
    """Returns the latitude and longitude of the viewpoint that shows most of the given points (one row each), away from
    the poles.
    """
    corners = _unit(places[:, 0], places[:, 1])
    middle = corners.mean(axis=0)
    if np.linalg.norm(middle) < 0.2:
        middle = corners[0]
    north = float(np.degrees(np.arcsin(middle[2] / np.linalg.norm(middle))))
    return min(max(north, -60.0), 60.0), float(np.degrees(np.arctan2(middle[1], middle[0])))


def _in_front(points: Floats) -> Any:
    """Returns the points of a view that the Earth does not hide."""
    return (points[:, 2] > 0) | (np.hypot(points[:, 0], points[:, 1]) > 1.0)


def _outline(corners: Floats) -> Floats:
    """Returns the corners of land in a view: corners beyond the horizon are moved onto it, and edges between two of
    them follow it.
    """
    behind = corners[:, 2] <= 0
    angles = np.arctan2(corners[:, 1], corners[:, 0])
    parts: list[Floats] = []
    for at, corner in enumerate(corners):
        if not behind[at]:
            parts.append(corner[None, :2])
            continue
        arc = angles[at : at + 1]
        if at and behind[at - 1]:
            turned = (angles[at] - angles[at - 1] + np.pi) % (2 * np.pi) - np.pi
            steps = max(int(abs(turned) * 20), 1)
            arc = angles[at - 1] + turned * np.arange(1, steps + 1) / steps
        parts.append(np.stack([np.cos(arc), np.sin(arc)], axis=1))
    return np.concatenate(parts)


@former_keywords("constellation.plot.globe")
@styled
def globe(
    sky: Ephemeris,
    time_s: float = 0.0,
    *,
    paths: Sequence[tuple[str, str]] = (),
    result: Records | None = None,
    ax: Axes | None = None,
) -> Chart:
    """Plots the Earth from afar: satellites, their links, stations, and the paths between pairs of stations.

    Parameters
    ----------
    time_s
        Seconds since the start of a run.
    paths
        Pairs of stations; by default the first station with each of the others.
    result
        A run over this constellation, whose flows are plotted instead of pairs.
    ax
        Existing axes to draw into; by default a new figure is created.
    """
    figure, axes = style.chart(size=(6.4, 6.4), follow=1.0, ax=ax)
    courses = _courses(sky, paths, time_s + 0.1, result)
    _scene(axes, sky, time_s, view_of(sky.station_coordinates(time_s)), courses)
    return figure


@former_keywords("constellation.plot.film")
def film(
    sky: Ephemeris,
    path: str | os.PathLike[str],
    *,
    paths: Sequence[tuple[str, str]] = (),
    until_s: float = 60.0,
    every_s: float = 1.0,
    per_second: int = 10,
    result: Records | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Writes the globe over time as a film; the suffix decides the format (.gif, .mp4).

    Parameters
    ----------
    paths
        Pairs of stations whose paths are plotted; by default the first station with each of the others.
    until_s
        Upper limit of the simulated time of the last frame, in seconds since the start.
    every_s
        Simulated time between two frames.
    per_second
        Frames shown per second.
    result
        A run over this constellation, whose flows are plotted instead of pairs.
    progress
        Called with the number of finished frames and the total.
    """
    path = films.writable(path)
    if not every_s > 0:
        raise InputError(f"every_s: {every_s:g} s between two images; it must be above 0")
    times = times_until(until_s, every_s)
    if len(times) > MOST_PICTURES:
        raise InputError(f"every_s: {len(times)} images exceed the maximum of {MOST_PICTURES}; choose a longer every_s")
    courses = _courses(sky, paths, until_s, result)
    eye = view_of(sky.station_coordinates())
    with matplotlib.rc_context(style.rc(looks.current())):
        figure, axes = style.chart(size=(6.4, 6.4), follow=1.0)

        def draw(time_s: float) -> None:
            axes.clear()
            _scene(axes, sky, time_s, eye, courses)

        films.write(figure, draw, times, path, per_second, progress)
    return path


def _courses(
    sky: Ephemeris, pairs: Sequence[tuple[str, str]], until_s: float, result: Records | None
) -> dict[str, list[tuple[float, list[int]]]]:
    """Returns the paths to plot by name: start time and nodes, with no nodes while there is no path."""
    if result is not None:
        return courses_of_flows(sky, result)
    between = list(pairs) or [(sky.stations[0], other) for other in sky.stations[1:]]
    return {f"{start} – {end}": sky.path_changes(start, end, until_s) for start, end in between}


def courses_of_flows(sky: Ephemeris, result: Records) -> dict[str, list[tuple[float, list[int]]]]:
    """Returns the paths of the first flows of a run: start time and nodes, with no nodes while there is no path."""
    number = {name: at for at, name in enumerate([*sky.satellites, *sky.stations])}
    found: dict[str, list[tuple[float, list[int]]]] = {}
    for flow in result.parts["flows"]:
        if len(found) == len(style.COLOURS):
            break
        name = str(flow["name"])
        if courses := _names_of_nodes(result, name):
            found[name] = [(since, [number[node] for node in nodes if node in number]) for since, nodes in courses]
    return found


def _scene(
    axes: Axes,
    sky: Ephemeris,
    time_s: float,
    eye: tuple[float, float],
    courses: Mapping[str, Sequence[tuple[float, list[int]]]],
) -> None:
    """Plots the globe from above a point, with the paths at a given time."""
    axes_of_view = _seen_from(*eye)
    places = sky.station_coordinates(time_s)
    axes.add_patch(matplotlib.patches.Circle((0, 0), 1.0, facecolor=SEA, edgecolor=style.GREY, linewidth=0.7, zorder=1))
    for ring in _land():
        corners = _unit(ring[:, 1], ring[:, 0]) @ axes_of_view.T
        if (corners[:, 2] > 0).any():
            flat = _outline(corners)
            axes.fill(flat[:, 0], flat[:, 1], facecolor=LAND, edgecolor=style.GREY, linewidth=0.4, zorder=2)
    points = sky.positions(time_s) / EARTH @ axes_of_view.T
    seen = _in_front(points)
    links = [(points[a, :2], points[b, :2]) for a, b in sky.isls(time_s) if seen[a] and seen[b]]
    axes.add_collection(LineCollection(links, colors=style.GREY, linewidths=0.4, alpha=0.35, zorder=3))
    axes.scatter(points[seen, 0], points[seen, 1], s=3, color=style.GREY, linewidths=0, zorder=4)
    ground = _unit(places[:, 0], places[:, 1]) @ axes_of_view.T
    everything = np.concatenate([points, ground])
    for number, (name, course) in enumerate(courses.items()):
        look = style.line_style(number)
        nodes = _way_at(course, time_s)
        label = name + ("" if nodes else ": no path")
        line = everything[list(nodes), :2] if nodes else np.empty((0, 2))
        axes.plot(line[:, 0], line[:, 1], linewidth=1.8, marker="o", markersize=3, zorder=6, label=label, **look)
    for name, point in zip(sky.stations, ground, strict=True):
        if point[2] > 0:
            axes.plot(point[0], point[1], marker="s", markersize=5, color=style.BLACK, zorder=7, linestyle="none")
            axes.annotate(name, point[:2], xytext=(5, 4), textcoords="offset points", zorder=8, path_effects=_halo())
    reach = min(float(np.abs(points[seen, :2]).max()) if seen.any() else 1.0, 1.6) + 0.06
    framing.finish(axes, f"{len(sky.satellites)} satellites", _moment(sky, time_s))
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    axes.set_aspect("equal")
    axes.axis("off")


def _halo() -> list[Any]:
    """Returns a white outline for a name, so that it is legible on dots and lines."""
    return [withStroke(linewidth=style.points(2.2), foreground="white")]


def _moment(sky: Ephemeris, time_s: float) -> str:
    return f"{time_s:g} s after {sky.start}"


def _way_at(courses: Sequence[tuple[float, list[int]]], time_s: float) -> list[int]:
    """Returns the nodes of the path between two stations at a given time."""
    found: list[int] = []
    for since, nodes in courses:
        if since <= time_s:
            found = nodes
    return found


@styled
def map_of(
    sky: Ephemeris,
    time_s: float = 0.0,
    *,
    satellites: Sequence[str] = (),
    until_s: float = 6000.0,
    ax: Axes | None = None,
) -> Chart:
    """Plots a flat map: stations, all satellites at a time, and the ground tracks of some.

    Parameters
    ----------
    satellites
        Satellites whose tracks are plotted, up to ``until_s``; by default only the first.
    ax
        Axes to draw into.
    """
    figure, axes = style.chart(size=(7.2, 3.9), follow=0.7, ax=ax)
    axes.set_facecolor(SEA)
    axes.grid(visible=False)
    for ring in _land():
        east = np.unwrap(ring[:, 0], period=360.0)
        # Land across the date line is drawn at both sides of the map; that around the pole has corners along its edges.
        shifts = (
            (0.0,) if abs(east[-1] - east[0]) > 180.0 or np.ptp(east) == np.ptp(ring[:, 0]) else (-360.0, 0.0, 360.0)
        )
        x = ring[:, 0] if len(shifts) == 1 else east
        for shift in shifts:
            axes.fill(x + shift, ring[:, 1], facecolor=LAND, edgecolor=style.GREY, linewidth=0.3, zorder=2)
    north, east, _ = geographic(sky.positions(time_s))
    axes.scatter(east, north, s=4, color=style.GREY, linewidths=0, zorder=3)
    for number, name in enumerate(satellites or sky.satellites[:1]):
        track = sky.track(name, until_s, 30.0)
        x, y = track["longitude"].to_numpy(), track["latitude"].to_numpy()
        cuts = np.flatnonzero(np.abs(np.diff(x)) > 180.0) + 1
        look = style.line_style(number)
        for part, (xs, ys) in enumerate(zip(np.split(x, cuts), np.split(y, cuts), strict=True)):
            axes.plot(xs, ys, zorder=4, label=name if part == 0 else None, **look)
    places = sky.station_coordinates(time_s)
    axes.plot(places[:, 1], places[:, 0], marker="s", markersize=4, color=style.BLACK, linestyle="none", zorder=5)
    _name_places(axes, dict(zip(sky.stations, places.tolist(), strict=True)))
    note = f"{_moment(sky, time_s)}, tracks up to {until_s:g} s"
    framing.finish(axes, f"{len(sky.satellites)} satellites", note)
    axes.set_xlim(-180, 180)
    axes.set_ylim(-90, 90)
    axes.set_xticks(range(-180, 181, 60))
    axes.set_yticks(range(-90, 91, 30 if figure.get_figheight() > 3 else 45))
    axes.set_xlabel("longitude (°)")
    axes.set_ylabel("latitude (°)")
    return figure


def _name_places(axes: Axes, places: Mapping[str, Sequence[float]]) -> None:
    """Labels locations on a map (latitude and longitude in degrees), each where it overlaps no other label."""
    size = style.points(9)
    inch = framing.room_in(axes) / 360
    height = 1.3 * size / 72
    taken: list[tuple[float, float, float]] = []
    for name, (latitude, longitude) in places.items():
        width = framing.width_in(name, size) + 0.1
        free = []
        for side, over in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
            x, y = longitude * inch + (0 if side > 0 else -width), latitude * inch + (0 if over > 0 else -height)
            is_on_map = -180 * inch <= x and x + width <= 180 * inch
            is_alone = all(x + width <= left or x >= left + wide or abs(y - low) >= height for left, low, wide in taken)
            if is_on_map and is_alone:
                free.append((side, over, x, y))
        side, over, x, y = free[0] if free else (1, 1, longitude * inch, latitude * inch)
        taken.append((x, y, width))
        where: dict[str, Any] = {"ha": "left" if side > 0 else "right", "va": "bottom" if over > 0 else "top"}
        where |= {"xytext": (4 * side, 2 * over), "textcoords": "offset points", "path_effects": _halo()}
        axes.annotate(name, (longitude, latitude), zorder=6, **where)


@styled
def sky_view(
    sky: Ephemeris, station: str, time_s: float = 0.0, *, until_s: float | None = None, ax: Axes | None = None
) -> Chart:
    """Plots the view from a station: the usable satellites, by azimuth and elevation, and their tracks.

    Parameters
    ----------
    until_s
        End of the tracks. Defaults to 60 s after ``time_s``.
    ax
        Polar axes to draw into.
    """
    if until_s is None:
        until_s = time_s + 60.0
    if until_s < time_s:
        raise InputError(f"the tracks end at {until_s:g} s, before they start at {time_s:g} s")
    figure, axes = style.chart(size=(5.6, 5.6), follow=1.0, ax=ax, subplot_kw={"projection": "polar"})
    if axes.name != "polar":
        raise InputError(
            'ax: a plot of visible satellites needs polar axes; create them with subplot_kw={"projection": "polar"}'
        )
    tracks: dict[str, list[tuple[float, float]]] = {}
    for at in np.linspace(time_s, until_s, 13):
        for name, azimuth, elevation, _ in sky.visible(station, float(at)).rows():
            tracks.setdefault(name, []).append((np.radians(azimuth), 90.0 - elevation))
    for points in tracks.values():
        angle, distance = zip(*points, strict=True)
        axes.plot(np.unwrap(angle), distance, color=style.GREY, linewidth=0.8, zorder=2)
    now = sky.visible(station, time_s)
    axes.scatter(
        np.radians(now["azimuth"].to_numpy()),
        90.0 - now["elevation"].to_numpy(),
        color=style.COLOURS[0],
        s=22,
        zorder=3,
    )
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.set_rlim(0, 90)
    axes.set_rticks([0, 30, 60], ["90°", "60°", "30°"])
    axes.grid(visible=True, axis="both")
    framing.head(figure, [axes], f"{station}: {now.height} usable satellites", _moment(sky, time_s), ax=ax)
    return figure


@styled
def timeline(
    sky: Ephemeris, start: str, end: str, until_s: float, step_s: float = 0.5, *, ax: Sequence[Axes] | None = None
) -> Chart:
    """Plots the round trip at the speed of light between two stations over time, and the satellites at both ends of the
    path.

    Parameters
    ----------
    until_s, step_s
        Last time and time step, in seconds.
    ax
        Axes to draw into: for the round trip and for the satellites.
    """
    path = sky.path(start, end, until_s, step_s)
    figure, (above, below) = style.chart(2, 1, size=(6.4, 4.2), ax=ax, sharex=True, height_ratios=(3, 1))
    time = path["time_s"].to_numpy()
    above.plot(time, path["rtt_ms"].to_numpy(), **style.line_style(0))
    above.set_ylabel("round trip (ms)")
    changes = int(path["path"].max() or 0)  # type: ignore[arg-type]
    out = float(path["rtt_ms"].is_null().mean() or 0.0)  # type: ignore[arg-type]
    note = f", no path for {100 * out:.3g} % of the time" if out else ""
    paths = [(since, [sky.name(node) for node in nodes]) for since, nodes in sky.path_changes(start, end, until_s)]
    _satellites(below, paths, until_s)
    below.set_yticks([0, 1], [f"at {start}", f"at {end}"])
    framing.finish(above, f"{start} – {end}", f"the path changes {changes} times{note}", end_s=until_s)
    below.grid(visible=False)
    below.set_xlim(0, until_s)
    below.set_ylim(1.5, -0.5)
    below.set_xlabel("time (s)")
    return figure


@styled
def handovers(result: Records, flow: str | None = None, *, ax: Sequence[Axes] | None = None) -> Chart:
    """Plots a flow over a constellation: its window and round trips, and below them the satellites at both ends of its
    path.

    A fine line is a change of the path; grey is time without a path.

    Parameters
    ----------
    flow
        Name of the flow; by default the first.
    ax
        Axes to draw into: for the window, the round trips and the satellites.
    """
    if not result.scenario.get("constellation"):
        raise InputError(f"{result.name}: no constellation; a plot of handovers needs one")
    names = [entry["name"] for entry in result.summary["flows"]]
    if not names:
        raise InputError(f"{result.name}: no flow")
    if flow is None:
        flow = str(names[0])
    if flow not in names:
        raise InputError(f'no flow "{printable(flow)}"; there are {", ".join(map(printable, names[:10]))}')
    trace = result.trace()
    if trace.is_empty():
        raise InputError(f"{result.name}: no trace was recorded; run it with --set record.trace=sampled")
    trace = trace.filter(trace["flow"].cast(str) == flow)
    if "leg" in trace.columns:
        trace = trace.filter(trace["leg"] == 1)
    end_s = result.simulated_s
    courses = _names_of_nodes(result, flow)
    figure, (window, delay, below) = style.chart(3, 1, size=(6.4, 5.2), ax=ax, sharex=True, height_ratios=(3, 3, 1.7))
    time = trace["time_s"].to_numpy()
    cwnd = trace["cwnd_segments"].to_numpy().astype(np.float64)
    look = style.line_style(0)
    window.plot(*analyse.decimate(time, cwnd, _POINTS), drawstyle="steps-post", zorder=3, **look)
    samples = analyse.decimate(time, 1e3 * trace["rtt_s"].to_numpy().astype(np.float64), _POINTS)
    dots: dict[str, Any] = {"linestyle": "none", "marker": ".", "markeredgewidth": 0, "color": style.COLOURS[5]}
    delay.plot(*samples, markersize=2.5, rasterized=len(samples[0]) > 2000, zorder=2, label="sample", **dots)
    smoothed = 1e3 * trace["srtt_s"].to_numpy().astype(np.float64)
    delay.plot(*analyse.decimate(time, smoothed, _POINTS), label="SRTT", zorder=3, **look)
    known = ~np.isnan(smoothed)
    changes = [since for since, _ in courses[1:]]
    for axes in (window, delay, below):
        for since in changes:
            axes.axvline(since, color=style.GREY, linewidth=0.5, alpha=0.6, zorder=1)
        for (since, nodes), until in zip(courses, [*changes, end_s], strict=True):
            if not nodes:
                axes.axvspan(since, until, color="#cccccc", alpha=0.7, linewidth=0, zorder=0.5)
    _satellites(below, courses, end_s)
    out = sum(until - since for (since, nodes), until in zip(courses, [*changes, end_s], strict=True) if not nodes)
    many = f"{len(changes)} path change{'s' * (len(changes) != 1)}" + (f", {out:.3g} s of outage" if out else "")
    entry = result.summary["flows"][names.index(flow)]
    below.set_yticks([0, 1], [f"at {entry['from']}", f"at {entry['to']}"])
    framing.finish(window, f"Handovers of {flow}", f"{many} · seed {result.seed}", legend=False, end_s=end_s)
    window.set_ylabel("cwnd (segments)")
    scales.tame_peak(window, [(time, cwnd)])
    delay.set_ylabel("round trip (ms)")
    framing.legend_above(delay, framing.entries([delay]))
    delay.set_ylim(bottom=0)
    scales.tame_peak(delay, [(time[known], smoothed[known])])
    below.grid(visible=False)
    below.set_ylim(1.5, -0.5)
    below.set_xlabel("time (s)")
    return figure


def _names_of_nodes(result: Records, flow: str) -> list[tuple[float, list[str]]]:
    """Returns the paths of a flow in a run: start time and node names, with no names while there is no path."""
    paths = result.paths.filter(result.paths["flow"].cast(str) == flow)
    parts = paths.partition_by("time_s", maintain_order=True)
    return [(float(part["time_s"][0]), part["node"].cast(str).to_list() if part["hops"][0] else []) for part in parts]


def _satellites(axes: Axes, courses: Sequence[tuple[float, list[str]]], end_s: float) -> None:
    """Plots the first and the last satellite of each path as bars in two rows, with names where they fit."""
    for row, of in enumerate((1, -2)):
        used = [(since, nodes[of] if nodes else None) for since, nodes in courses]
        turns = [at for at in range(len(used)) if at == 0 or used[at][1] != used[at - 1][1]]
        number = 0
        for first, last in itertools.pairwise([*turns, len(used)]):
            since, name = used[first]
            width = (used[last][0] if last < len(used) else end_s) - since
            if name is None:
                continue
            number += 1
            axes.barh(
                row, width, left=since, height=0.7, color=style.COLOURS[(number + 1) % 2 * 4], alpha=0.55, zorder=2
            )
            if width / end_s * framing.room_in(axes) > framing.width_in(name, style.points(7)) + 0.04:
                middle = since + width / 2
                axes.text(middle, row, name, ha="center", va="center", fontsize=style.points(7), zorder=3)
