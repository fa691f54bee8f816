"""A constellation over time as one HTML page that needs nothing else: a globe that turns, and the ways of pairs.

The page draws on a canvas. It holds positions a few seconds apart, and turns from one to the next along the sphere.
"""

from __future__ import annotations

import base64
import html
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from lightlag import analyse
from lightlag.constellation.ephemeris import Ephemeris, time_of_run
from lightlag.constellation.plot import EARTH, _land, _unit, courses_of_flows, view_of
from lightlag.drawing import style
from lightlag.errors import InputError
from lightlag.files.output import GENERATOR
from lightlag.records.records import Records

__all__ = ["MOST_BYTES", "page", "player"]

MOST_BYTES = 4_000_000
"""The most bytes that the positions of a page may take."""
_USUAL_BYTES = 800_000
_LONGEST_STEP = 120.0
"""Seconds between two positions. At 120 s a low satellite is at most 2 km from where it is drawn."""
_SAMPLES = 600
"""Of the round trip of a pair."""
_INTERVALS = 120
"""In which goodput is counted."""

_LIGHT = {"title": "round trip of light (ms)", "short": "", "unit": "ms", "zero": False}
_SRTT = {"title": "round trip (ms): SRTT, and thin that of light", "short": "SRTT", "unit": "ms", "zero": False}
_GOODPUT = {"title": "goodput (Mbit/s)", "short": "goodput", "unit": "Mbit/s", "zero": True}
_CWND = {"title": "cwnd (segments)", "short": "cwnd", "unit": "segments", "zero": True}


def page(
    sky: Ephemeris,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    until_s: float = 60.0,
    step_s: float | None = None,
    title: str = "Constellation",
    result: Records | None = None,
) -> str:
    """The player as a whole page.

    Parameters
    ----------
    pairs, until_s, step_s, result
        As in :func:`player`.
    """
    inside = player(sky, pairs=pairs, until_s=until_s, step_s=step_s, result=result)
    name = html.escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{GENERATOR}\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{_PAGE_STYLE}</style>\n</head>\n"
        f'<body class="alone">\n<h1>{name}</h1>\n'
        f"{inside}\n</body>\n</html>\n"
    )


def player(
    sky: Ephemeris,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    until_s: float = 60.0,
    step_s: float | None = None,
    result: Records | None = None,
) -> str:
    """The player as a part of a page; a page has one at most.

    Parameters
    ----------
    pairs
        Pairs of stations whose ways are drawn; by default the first station with each of the others.
    until_s
        The time at which the player ends, in seconds from the start on.
    step_s
        Seconds between two stored positions, up to 120; by default 10, or more where the page would grow large.
        Ways change at their own times, whatever the step.
    result
        A run through this sky: its first flows and their ways instead of pairs, with their round trips, goodput and
        windows, as far as they were recorded. The player ends where the run ended, or where it would grow too large.
    """
    cut = ""
    if result is not None:
        until_s = result.simulated_s
        if step_s is None and until_s > (most := _longest(len(sky.satellites) + len(sky.stations))):
            cut = f"The page has room for the first {most:g} s of {until_s:g} s. "
            until_s = most
    times = _knots(len(sky.satellites) + len(sky.stations), until_s, step_s)
    if result is not None:
        ways, charts = _of_run(sky, result, until_s)
    else:
        between = list(pairs) or [(sky.stations[0], other) for other in sky.stations[1:]]
        ways = [_way(sky, start, end, until_s) for start, end in between]
        charts = [{**_LIGHT, "series": [{"way": at, "values": way["rtt"]} for at, way in enumerate(ways)]}]
    nodes = np.stack([_nodes(sky, time) for time in times])
    unit = float(np.abs(nodes).max()) / 32767
    north, east = view_of(sky.places())
    data = {
        "start": sky.start,
        "until": until_s,
        "step": times[1],
        "knots": len(times),
        "satellites": sky.satellites,
        "stations": sky.stations,
        "unit": unit,
        "places": base64.b64encode(np.round(nodes / unit).astype("<i2").tobytes()).decode(),
        "links": _links(sky, times),
        "land": [ring.tolist() for ring in _land()],
        "view": [north, east],
        "reach": min(float(np.linalg.norm(nodes[0], axis=1).max()), 1.6) + 0.06,
        "ways": ways,
        "charts": charts,
        "colours": list(style.COLOURS),
    }
    of = ' class="chart small"' if len(charts) > 1 else ' class="chart"'
    canvases = "".join(
        f'<canvas{of} role="img" aria-label="{html.escape(str(chart["title"]))} over time"></canvas>\n'
        for chart in charts
    )
    # A closing tag inside a name would end the script.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div id="sky">\n<style>{_STYLE}</style>\n<div class="sides">\n'
        '<canvas class="globe" tabindex="0" role="img" aria-label="globe with satellites, links and ways"></canvas>\n'
        f'<div class="side"><ul></ul>\n{canvases}</div>\n</div>\n'
        '<p class="controls"><button type="button">play</button> '
        '<select aria-label="speed"><option value="1">1 ×</option><option value="5">5 ×</option>'
        '<option value="20">20 ×</option><option value="100">100 ×</option></select> '
        f'<input type="range" min="0" max="{until_s:g}" step="any" value="0" aria-label="time"> <output></output></p>\n'
        f'<p class="help">{cut}Drag the globe to turn it, use the wheel to come closer. Keys: space plays, , and . '
        "step by a second, arrows turn, + and − come closer and go away, 0 is the view at the start.</p>\n"
        f'<script type="application/json">{text}</script>\n<script>{_SCRIPT}</script>\n</div>'
    )


def _knots(nodes: int, until_s: float, step_s: float | None) -> list[float]:
    """The times of stored positions: from 0 on, the last at or behind the end."""
    if time_of_run(until_s) == 0.0:
        raise InputError("until_s: 0 s is no time to play; write seconds above 0")
    each = 8 * nodes  # Three numbers of two bytes, which take four thirds in base 64.
    if step_s is None:
        step_s = min(max(10.0, until_s * each / _USUAL_BYTES), _LONGEST_STEP)
    if not 0.0 < step_s <= _LONGEST_STEP:
        raise InputError(f"step_s: {step_s:g} s between two positions; write more than 0 and at most {_LONGEST_STEP:g}")
    count = math.ceil(until_s / step_s) + 1
    if count * each > MOST_BYTES:
        raise InputError(
            f"until_s: {count} times {nodes} positions take {count * each / 1e6:.3g} MB, more than "
            f"{MOST_BYTES / 1e6:g}; take a longer step_s or an earlier end"
        )
    return [at * step_s for at in range(count)]


def _longest(nodes: int) -> float:
    """The last time for which a page has room, in seconds."""
    return max(MOST_BYTES // (8 * nodes) - 1, 1) * _LONGEST_STEP


def _nodes(sky: Ephemeris, time_s: float) -> Any:
    """The positions of all nodes in radii of the Earth."""
    places = sky.places(time_s)
    return np.concatenate([sky.positions(time_s) / EARTH, _unit(places[:, 0], places[:, 1])])


def _links(sky: Ephemeris, times: Sequence[float]) -> list[int]:
    """The links between satellites, four numbers each: both ends, and between which of the times the link is up."""
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
    """The ways between two stations with their times, and samples of the round trip of light in ms."""
    return {
        "name": f"{start} – {end}",
        "courses": [[round(since, 3), nodes] for since, nodes in sky.courses(start, end, until_s)],
        "rtt": _light(sky, start, end, until_s),
    }


def _light(sky: Ephemeris, start: str, end: str, until_s: float) -> list[float | None]:
    """Samples of the round trip of light in ms."""
    return sky.way(start, end, until_s, until_s / _SAMPLES)["rtt_ms"].round(3).to_list()


def _of_run(sky: Ephemeris, result: Records, until_s: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The first flows of a run through a sky, each with its ways, and the charts of these flows."""
    # Ways that depend on the load are not those of a sky without traffic.
    has_light = not result.parts["scenario"]["constellation"].get("load_penalty", 0)
    ways: list[dict[str, Any]] = []
    for name, courses in courses_of_flows(sky, result).items():
        rtt: list[float | None] = [None] * (_SAMPLES + 1)
        if has_light and (nodes := next((nodes for _, nodes in courses if nodes), None)):
            rtt = _light(sky, sky.name(nodes[0]), sky.name(nodes[-1]), until_s)
        ways.append({"name": name, "courses": [[round(since, 3), nodes] for since, nodes in courses], "rtt": rtt})
    light_series = [{"way": at, "values": way["rtt"], "thin": True} for at, way in enumerate(ways) if has_light]
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
    """A column of a table at equal distances of time, for each way: the value that held then."""
    times = np.linspace(0.0, until_s, _SAMPLES + 1)
    series = []
    for at, way in enumerate(ways):
        rows = table.filter((table["flow"].cast(pl.String) == way["name"]) & table[column].is_not_null())
        values = rows[column].to_numpy() * factor
        place = np.searchsorted(rows["time_s"].to_numpy(), times, side="right") - 1
        known = [float(f"{values[row]:.5g}") if row >= 0 else None for row in place]
        series.append({"way": at, "values": known})
    return series


_PAGE_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.4 system-ui, sans-serif; margin: 1em auto; max-width: 1100px; padding: 0 1em; }
h1 { font-size: 1.3em; }
@media (prefers-color-scheme: dark) { body { background: #14171c; color: #e8e8e8; } }
"""

_STYLE = """
#sky { --sea: #eef3f8; --land: #d9d4c7; --coast: #8a8578; --link: #6b6b6b; --dot: #555555; --ink: #1a1a1a;
  --quiet: #6b6b6b; --line: #dcdcdc; }
@media (prefers-color-scheme: dark) {
  #sky { --sea: #1b2733; --land: #3a4038; --coast: #6d7568; --link: #a0a0a0; --dot: #c4c4c4; --ink: #f0f0f0;
    --quiet: #a8a8a8; --line: #3a3f46; }
}
#sky .sides { display: flex; flex-wrap: wrap; gap: 1em; }
#sky .globe { flex: 3 1 340px; min-width: 0; max-width: 640px; width: 100%; aspect-ratio: 1; touch-action: none;
  cursor: grab; }
#sky .side { flex: 2 1 300px; min-width: 0; }
#sky .chart { width: 100%; height: 220px; cursor: pointer; }
#sky .small { height: 150px; }
#sky ul { list-style: none; margin: 0 0 0.6em; padding: 0; min-height: 6em; }
#sky li { margin-bottom: 0.5em; overflow-wrap: anywhere; }
#sky li b::before { content: ""; display: inline-block; width: 1.6em; border-top: 4px solid var(--colour);
  margin-right: 0.5em; vertical-align: middle; }
#sky small, #sky .help { color: var(--quiet); font-size: 0.85em; }
#sky .controls { display: flex; gap: 0.6em; align-items: center; }
#sky .controls input { flex: 1; min-width: 4em; }
#sky output { font-variant-numeric: tabular-nums; min-width: 11em; }
"""

_SCRIPT = """
(() => {
  const root = document.getElementById("sky"), find = (name) => root.querySelector(name);
  const data = JSON.parse(find("script").textContent);
  const [globe, list, button, speed, slider, told] =
    [".globe", "ul", "button", "select", "input", "output"].map(find);
  const count = data.satellites.length, total = count + data.stations.length;
  const bytes = Uint8Array.from(atob(data.places), (letter) => letter.charCodeAt(0));
  const stored = new DataView(bytes.buffer), places = new Float32Array(bytes.length / 2);
  for (let i = 0; i < places.length; i++) places[i] = stored.getInt16(2 * i, true) * data.unit;
  const radians = Math.PI / 180;
  const direction = (east, north) => [Math.cos(north * radians) * Math.cos(east * radians),
    Math.cos(north * radians) * Math.sin(east * radians), Math.sin(north * radians)];
  const land = data.land.map((ring) => ring.map((corner) => direction(corner[0], corner[1])));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let time = 0, north = data.view[0], east = data.view[1], zoom = 1, side = 0, ratio = 1, colours = {};

  // On a dark page a third of the way to white, and black becomes white.
  const lighter = (colour) => "#" + [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))
    .map((value, _, all) => Math.max(...all) < 64 ? 255 - value : Math.round(value + (255 - value) / 3))
    .map((value) => value.toString(16).padStart(2, "0")).join("");
  const look = () => {
    const style = getComputedStyle(root);
    for (const name of ["sea", "land", "coast", "link", "dot", "ink", "quiet", "line"])
      colours[name] = style.getPropertyValue("--" + name).trim();
    colours.ways = data.colours.map((colour) => dark.matches ? lighter(colour) : colour);
  };
  const wayColour = (at) => colours.ways[at % colours.ways.length];

  // Positions between two stored ones lie on the arc between them.
  const now = new Float32Array(3 * total);
  const place = () => {
    const at = Math.min(Math.floor(time / data.step), data.knots - 2), part = time / data.step - at;
    const before = 3 * total * at, after = before + 3 * total;
    for (let i = 0; i < 3 * total; i += 3) {
      let sum = 0, from = 0, to = 0;
      for (let k = 0; k < 3; k++) {
        const a = places[before + i + k], b = places[after + i + k], mixed = a + (b - a) * part;
        now[i + k] = mixed; sum += mixed * mixed; from += a * a; to += b * b;
      }
      const stretch = (Math.sqrt(from) + (Math.sqrt(to) - Math.sqrt(from)) * part) / Math.sqrt(sum);
      for (let k = 0; k < 3; k++) now[i + k] *= stretch;
    }
  };

  let axes = [];
  const turn = () => {
    const eye = direction(east, north), right = [-Math.sin(east * radians), Math.cos(east * radians), 0];
    const up = [eye[1] * right[2] - eye[2] * right[1], eye[2] * right[0] - eye[0] * right[2],
      eye[0] * right[1] - eye[1] * right[0]];
    axes = [right, up, eye];
  };
  const seen = (x, y, z) => axes.map((axis) => axis[0] * x + axis[1] * y + axis[2] * z);
  const scale = () => side * 0.5 / data.reach * zoom;
  const flat = (point) => [side / 2 + point[0] * scale(), side / 2 - point[1] * scale()];
  const inFront = (point) => point[2] > 0 || Math.hypot(point[0], point[1]) > 1;

  const fit = (canvas) => {
    const width = canvas.clientWidth, height = canvas.clientHeight, pen = canvas.getContext("2d");
    ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    return [pen, width, height];
  };

  const course = (way) => {
    let found = [];
    for (const [since, nodes] of way.courses) if (since <= time) found = nodes;
    return found;
  };
  const sample = (values) => values[Math.min(Math.round(time / data.until * (values.length - 1)), values.length - 1)];

  let dots = [];
  const drawGlobe = () => {
    const [pen, width] = fit(globe);
    side = width;
    turn();
    pen.beginPath(); pen.arc(side / 2, side / 2, scale(), 0, 2 * Math.PI);
    pen.fillStyle = colours.sea; pen.fill();
    pen.strokeStyle = colours.quiet; pen.lineWidth = 0.8; pen.stroke();
    pen.fillStyle = colours.land; pen.strokeStyle = colours.coast; pen.lineWidth = 0.5;
    for (const ring of land) {
      const corners = ring.map((corner) => seen(...corner));
      if (!corners.some((corner) => corner[2] > 0)) continue;
      pen.beginPath();
      let last = null;
      corners.forEach((corner, at) => {
        // Corners behind the horizon move to it, and what joins two of them follows it.
        const reach = corner[2] > 0 ? 1 : Math.max(Math.hypot(corner[0], corner[1]), 1e-9);
        const angle = corner[2] > 0 ? null : Math.atan2(corner[1], corner[0]);
        if (angle !== null && last !== null) {
          const turned = ((angle - last) / Math.PI + 3) % 2 - 1, parts = Math.floor(Math.abs(turned) * 60);
          for (let part = 1; part < parts; part++) {
            const between = last + turned * Math.PI * part / parts;
            pen.lineTo(...flat([Math.cos(between), Math.sin(between)]));
          }
        }
        last = angle;
        const [x, y] = flat([corner[0] / reach, corner[1] / reach]);
        if (at) pen.lineTo(x, y); else pen.moveTo(x, y);
      });
      pen.closePath(); pen.fill(); pen.stroke();
    }
    place();
    const points = [];
    for (let i = 0; i < total; i++) points.push(seen(now[3 * i], now[3 * i + 1], now[3 * i + 2]));
    const shown = points.map(inFront);
    dots = points.map(flat);
    const knot = Math.floor(time / data.step);
    pen.beginPath();
    for (let i = 0; i < data.links.length; i += 4) {
      const [a, b, from, until] = data.links.slice(i, i + 4);
      if (from > knot || until <= knot || !shown[a] || !shown[b]) continue;
      pen.moveTo(...dots[a]); pen.lineTo(...dots[b]);
    }
    pen.strokeStyle = colours.link; pen.globalAlpha = 0.3; pen.lineWidth = 0.6; pen.stroke(); pen.globalAlpha = 1;
    pen.fillStyle = colours.dot;
    const size = count > 300 ? 1.2 : 2.2;
    for (let i = 0; i < count; i++)
      if (shown[i]) { pen.beginPath(); pen.arc(dots[i][0], dots[i][1], size, 0, 2 * Math.PI); pen.fill(); }
    data.ways.forEach((way, number) => {
      const nodes = course(way);
      pen.strokeStyle = pen.fillStyle = wayColour(number); pen.lineWidth = 2.6;
      nodes.forEach((node, at) => {
        // What the Earth hides is pale.
        pen.globalAlpha = shown[node] && (!at || shown[nodes[at - 1]]) ? 1 : 0.25;
        if (at) {
          pen.beginPath(); pen.moveTo(...dots[nodes[at - 1]]); pen.lineTo(...dots[node]); pen.stroke();
        }
        pen.beginPath(); pen.arc(dots[node][0], dots[node][1], 3, 0, 2 * Math.PI); pen.fill();
      });
      pen.globalAlpha = 1;
    });
    pen.font = "12px system-ui, sans-serif";
    data.stations.forEach((name, at) => {
      if (points[count + at][2] <= 0) return;
      const [x, y] = dots[count + at];
      pen.fillStyle = colours.ink; pen.fillRect(x - 3, y - 3, 6, 6);
      pen.lineWidth = 3; pen.lineJoin = "round"; pen.strokeStyle = colours.sea;
      const from = Math.min(x + 6, side - pen.measureText(name).width - 2);
      pen.strokeText(name, from, y - 6); pen.fillText(name, from, y - 6);
    });
  };

  const step = (range) => {
    const power = 10 ** Math.floor(Math.log10(range));
    return power * [0.2, 0.5, 1, 2].find((factor) => range / (power * factor) <= 5);
  };
  const ticks = (low, high) => {
    const every = step(high - low), found = [];
    for (let at = Math.ceil(low / every); at * every <= high * (1 + 1e-9); at++) found.push(at * every);
    return [found, Math.max(0, -Math.floor(Math.log10(every) + 1e-9))];
  };
  const left = 44;
  const charts = data.charts.map((chart, at) => {
    const known = chart.series.flatMap((one) => one.values).filter((value) => value !== null).sort((a, b) => a - b);
    // The peak of a start may not flatten the rest.
    const end = known.length && known[Math.floor(known.length * 0.99)] * 3 < known[known.length - 1]
      ? known[Math.floor(known.length * 0.99)] * 1.2 : known[known.length - 1];
    const room = Math.max((end - known[0]) * 0.08, chart.zero ? 0 : 0.5);
    const low = chart.zero ? 0 : Math.max(0, known[0] - room), high = end + room || 1;
    return { ...chart, canvas: root.querySelectorAll(".chart")[at], known: known.length > 0, low, high };
  });
  const across = (width, at) => left + at / data.until * (width - left - 14);
  const drawChart = (chart, isLast) => {
    const [pen, width, height] = fit(chart.canvas), top = 18, base = height - (isLast ? 32 : 18);
    const { low, high } = chart;
    const y = (value) => base - (Math.min(value, high) - low) / (high - low) * (base - top);
    pen.font = "11px system-ui, sans-serif"; pen.fillStyle = colours.quiet; pen.strokeStyle = colours.line;
    pen.lineWidth = 1; pen.textAlign = "left";
    pen.fillText(chart.known ? chart.title : chart.title + ": none at any time", 0, 10);
    if (chart.known) {
      const [marks, digits] = ticks(low, high);
      pen.textAlign = "right"; pen.textBaseline = "middle";
      for (const mark of marks) {
        pen.beginPath(); pen.moveTo(left, y(mark)); pen.lineTo(width - 14, y(mark)); pen.stroke();
        pen.fillText(mark.toFixed(digits), left - 6, y(mark));
      }
    }
    const [marks, digits] = ticks(0, data.until);
    pen.textAlign = "center"; pen.textBaseline = "alphabetic";
    for (const mark of marks) pen.fillText(mark.toFixed(digits), across(width, mark), base + 14);
    if (isLast) pen.fillText("time (s)", (left + width) / 2, height - 4);
    chart.series.forEach(({ way, values, thin }) => {
      pen.strokeStyle = wayColour(way); pen.lineWidth = thin ? 0.8 : 1.6; pen.beginPath();
      let open = false;
      values.forEach((value, at) => {
        if (value === null) { open = false; return; }
        const x = across(width, at / (values.length - 1) * data.until);
        if (open) pen.lineTo(x, y(value)); else pen.moveTo(x, y(value));
        open = true;
      });
      pen.stroke();
      const value = sample(values);
      if (value !== null && !thin) {
        pen.fillStyle = wayColour(way); pen.beginPath();
        pen.arc(across(width, time), y(value), 3.5, 0, 2 * Math.PI); pen.fill();
      }
    });
    pen.strokeStyle = colours.ink; pen.lineWidth = 1; pen.beginPath();
    pen.moveTo(across(width, time), top); pen.lineTo(across(width, time), base); pen.stroke();
  };

  const entries = data.ways.map((way) => {
    const entry = document.createElement("li"), name = document.createElement("b");
    const value = document.createElement("span"), through = document.createElement("small");
    name.textContent = way.name;
    entry.append(name, value, document.createElement("br"), through);
    list.append(entry);
    return [entry, value, through];
  });
  const name = (node) => node < count ? data.satellites[node] : data.stations[node - count];
  const tell = () => {
    data.ways.forEach((way, number) => {
      const [entry, value, through] = entries[number], nodes = course(way), rtt = sample(way.rtt);
      entry.style.setProperty("--colour", wayColour(number));
      const ms = rtt === null ? "" : `${rtt.toFixed(1)} ms of light, `;
      // Of a run, what its flow measures now.
      const measured = charts.filter((chart) => chart.short !== "").flatMap((chart) => chart.series
        .filter((one) => one.way === number && !one.thin && sample(one.values) !== null)
        .map((one) => `, ${chart.short} ${Number(sample(one.values).toPrecision(3))} ${chart.unit}`)).join("");
      value.textContent = nodes.length ? `: ${ms}${nodes.length - 1} links${measured}` : ": no way";
      through.textContent = nodes.slice(1, -1).map(name).join(" · ");
    });
    told.textContent = `${time.toFixed(1)} s of ${data.until} s`;
  };
  let asked = false;
  const draw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      drawGlobe();
      charts.forEach((chart, at) => drawChart(chart, at === charts.length - 1));
      tell();
    });
  };
  const go = (to) => {
    time = Math.min(Math.max(to, 0), data.until);
    slider.value = time;
    draw();
  };

  let playing = 0;
  const stop = () => { cancelAnimationFrame(playing); playing = 0; button.textContent = "play"; };
  const play = () => {
    if (playing) return stop();
    if (time >= data.until) go(0);
    button.textContent = "pause";
    let last = performance.now();
    const next = (at) => {
      go(time + Math.max(at - last, 0) / 1000 * Number(speed.value));
      last = at;
      if (time >= data.until) stop(); else playing = requestAnimationFrame(next);
    };
    playing = requestAnimationFrame(next);
  };
  speed.value = data.until > 1500 ? "100" : data.until > 300 ? "20" : data.until > 30 ? "5" : "1";
  button.addEventListener("click", play);
  slider.addEventListener("input", () => go(Number(slider.value)));

  const move = (dx, dy) => {
    east = (east + dx + 540) % 360 - 180;
    north = Math.min(Math.max(north + dy, -90), 90);
    draw();
  };
  const closer = (factor) => { zoom = Math.min(Math.max(zoom * factor, 0.15), 12); draw(); };
  let held = null;
  globe.addEventListener("pointerdown", (event) => {
    held = [event.clientX, event.clientY];
    globe.setPointerCapture(event.pointerId);
    globe.style.cursor = "grabbing";
  });
  globe.addEventListener("pointermove", (event) => {
    if (held) {
      const turned = 1 / scale() / radians;
      move(-(event.clientX - held[0]) * turned, (event.clientY - held[1]) * turned);
      held = [event.clientX, event.clientY];
      return;
    }
    const box = globe.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const near = dots.findIndex((dot) => Math.hypot(dot[0] - x, dot[1] - y) < 5);
    globe.title = near < 0 ? "" : name(near);
  });
  for (const end of ["pointerup", "pointercancel"])
    globe.addEventListener(end, () => { held = null; globe.style.cursor = ""; });
  globe.addEventListener("wheel", (event) => {
    event.preventDefault();
    closer(Math.exp(-event.deltaY / 600));
  }, { passive: false });
  for (const { canvas } of charts) {
    const point = (event) => {
      const box = canvas.getBoundingClientRect();
      go((event.clientX - box.left - left) / (box.width - left - 14) * data.until);
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); point(event); });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) point(event); });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // In a longer page the keys are those of the page until the reader comes here.
    if (!document.body.classList.contains("alone") && !root.contains(document.activeElement)) return;
    const field = event.target.closest && event.target.closest("input:not([type=range]), select, textarea, button, a");
    if (field) return;
    const keys = {
      " ": play,
      ",": () => go(time - 1),
      ".": () => go(time + 1),
      "+": () => closer(1.2),
      "=": () => closer(1.2),
      "-": () => closer(1 / 1.2),
      "0": () => { [north, east] = data.view; zoom = 1; draw(); },
      ArrowLeft: () => move(-5, 0),
      ArrowRight: () => move(5, 0),
      ArrowUp: () => move(0, 5),
      ArrowDown: () => move(0, -5),
    };
    if (event.key.startsWith("Arrow") && document.activeElement !== globe) return;
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  dark.addEventListener("change", () => { look(); draw(); });
  window.addEventListener("resize", draw);
  look();
  draw();
})();
"""
