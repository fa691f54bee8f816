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

from lightlag import style
from lightlag.constellation import Sky, _time
from lightlag.constellation_plot import EARTH, _land, _unit, view_of
from lightlag.errors import InputError

__all__ = ["MOST_BYTES", "page", "player"]

MOST_BYTES = 4_000_000
"""The most bytes that the positions of a page may take."""
_USUAL_BYTES = 800_000
_LONGEST_STEP = 120.0
"""Seconds between two positions. At 120 s a low satellite is at most 2 km from where it is drawn."""
_SAMPLES = 600
"""Of the round trip of a pair."""


def page(
    sky: Sky,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    until_s: float = 60.0,
    step_s: float | None = None,
    title: str = "Constellation",
) -> str:
    """The player as a whole page.

    Parameters
    ----------
    pairs, until_s, step_s
        As in :func:`player`.
    """
    inside = player(sky, pairs=pairs, until_s=until_s, step_s=step_s)
    name = html.escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n<style>{_PAGE_STYLE}</style>\n</head>\n"
        f'<body class="alone">\n<h1>{name}</h1>\n'
        f"{inside}\n</body>\n</html>\n"
    )


def player(
    sky: Sky,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    until_s: float = 60.0,
    step_s: float | None = None,
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
    """
    ways = list(pairs) or [(sky.stations[0], other) for other in sky.stations[1:]]
    times = _knots(len(sky.satellites) + len(sky.stations), until_s, step_s)
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
        "ways": [_way(sky, start, end, until_s) for start, end in ways],
        "colours": list(style.COLOURS),
    }
    # A closing tag inside a name would end the script.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div id="sky">\n<style>{_STYLE}</style>\n<div class="sides">\n'
        '<canvas class="globe" tabindex="0" role="img" aria-label="globe with satellites, links and ways"></canvas>\n'
        '<div class="side"><ul></ul>\n<canvas class="chart" role="img" aria-label="round trips over time"></canvas>\n'
        "</div>\n</div>\n"
        '<p class="controls"><button type="button">play</button> '
        '<select aria-label="speed"><option value="1">1 ×</option><option value="5">5 ×</option>'
        '<option value="20">20 ×</option><option value="100">100 ×</option></select> '
        f'<input type="range" min="0" max="{until_s:g}" step="any" value="0" aria-label="time"> <output></output></p>\n'
        '<p class="help">Drag the globe to turn it, use the wheel to come closer. Keys: space plays, , and . step by a '
        "second, arrows turn, + and − come closer and go away, 0 is the view at the start.</p>\n"
        f'<script type="application/json">{text}</script>\n<script>{_SCRIPT}</script>\n</div>'
    )


def _knots(nodes: int, until_s: float, step_s: float | None) -> list[float]:
    """The times of stored positions: from 0 on, the last at or behind the end."""
    if _time(until_s) == 0.0:
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


def _nodes(sky: Sky, time_s: float) -> Any:
    """The positions of all nodes in radii of the Earth."""
    places = sky.places(time_s)
    return np.concatenate([sky.positions(time_s) / EARTH, _unit(places[:, 0], places[:, 1])])


def _links(sky: Sky, times: Sequence[float]) -> list[int]:
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


def _way(sky: Sky, start: str, end: str, until_s: float) -> dict[str, object]:
    """The ways between two stations with their times, and samples of the round trip in ms."""
    way = sky.way(start, end, until_s, until_s / _SAMPLES)
    return {
        "name": f"{start} – {end}",
        "courses": [[round(since, 3), nodes] for since, nodes in sky.courses(start, end, until_s)],
        "rtt": way["rtt_ms"].round(3).to_list(),
    }


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
#sky ul { list-style: none; margin: 0 0 0.6em; padding: 0; min-height: 8em; }
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
  const [globe, chart, list, button, speed, slider, told] =
    [".globe", ".chart", "ul", "button", "select", "input", "output"].map(find);
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
  const sample = (way) => way.rtt[Math.min(Math.round(time / data.until * (way.rtt.length - 1)), way.rtt.length - 1)];

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
      pen.strokeText(name, x + 6, y - 6); pen.fillText(name, x + 6, y - 6);
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
  const known = data.ways.flatMap((way) => way.rtt).filter((value) => value !== null);
  const middle = known.reduce((low, value) => Math.min(low, value), Infinity);
  const highest = known.reduce((high, value) => Math.max(high, value), -Infinity);
  const room = Math.max((highest - middle) * 0.08, 0.5);
  const low = Math.max(0, middle - room), high = highest + room, left = 44;
  const across = (width, at) => left + at / data.until * (width - left - 14);
  const drawChart = () => {
    const [pen, width, height] = fit(chart), top = 18, base = height - 32;
    const y = (value) => base - (value - low) / (high - low) * (base - top);
    pen.font = "11px system-ui, sans-serif"; pen.fillStyle = colours.quiet; pen.strokeStyle = colours.line;
    pen.lineWidth = 1; pen.textAlign = "left";
    pen.fillText(known.length ? "round trip of light (ms)" : "no way at any time", 0, 10);
    if (known.length) {
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
    pen.fillText("time (s)", (left + width) / 2, height - 4);
    data.ways.forEach((way, number) => {
      pen.strokeStyle = wayColour(number); pen.lineWidth = 1.6; pen.beginPath();
      let open = false;
      way.rtt.forEach((value, at) => {
        if (value === null) { open = false; return; }
        const x = across(width, at / (way.rtt.length - 1) * data.until);
        if (open) pen.lineTo(x, y(value)); else pen.moveTo(x, y(value));
        open = true;
      });
      pen.stroke();
      const value = sample(way);
      if (value !== null) {
        pen.fillStyle = wayColour(number); pen.beginPath();
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
      const [entry, value, through] = entries[number], nodes = course(way), rtt = sample(way);
      entry.style.setProperty("--colour", wayColour(number));
      const ms = rtt === null ? "" : `${rtt.toFixed(1)} ms, `;
      value.textContent = nodes.length ? `: ${ms}${nodes.length - 1} links` : ": no way";
      through.textContent = nodes.slice(1, -1).map(name).join(" · ");
    });
    told.textContent = `${time.toFixed(1)} s of ${data.until} s`;
  };
  let asked = false;
  const draw = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; drawGlobe(); drawChart(); tell(); });
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
  const point = (event) => {
    const box = chart.getBoundingClientRect();
    go((event.clientX - box.left - left) / (box.width - left - 14) * data.until);
  };
  chart.addEventListener("pointerdown", (event) => { chart.setPointerCapture(event.pointerId); point(event); });
  chart.addEventListener("pointermove", (event) => { if (event.buttons) point(event); });

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
