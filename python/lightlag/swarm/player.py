"""The flight of a swarm as one HTML page that needs nothing else: a drawing, a time slider and a play button."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lightlag.drawing import style
from lightlag.errors import InputError
from lightlag.files.output import GENERATOR
from lightlag.swarm.paths import Radio, Swarm
from lightlag.swarm.plot import current

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MOST_NODES", "MOST_PICTURES", "fitting", "page", "player"]

MOST_PICTURES = 5000
MOST_NODES = 500
"""Of a page that a folder of results or a report holds without being asked."""
_MOST_PAIRS = 300_000
_OFTEN_S = 0.5
_SIDE = 640


def fitting(nodes: int, seconds: float) -> float:
    """The time between two pictures, in s, with which the page of a swarm has a few megabytes at most.

    Examples
    --------
    >>> fitting(4, 30.0), fitting(201, 100.0)
    (0.5, 7.6923076923076925)
    """
    pairs = max(nodes * (nodes - 1) // 2, 1)
    pictures = max(_MOST_PAIRS // pairs, 2)
    return max(seconds / (pictures - 1), _OFTEN_S)


def page(
    positions: pl.DataFrame,
    *,
    title: str = "Swarm",
    every_s: float = 0.5,
    radio: Radio | None = None,
    paths: pl.DataFrame | None = None,
    flows: Sequence[str] | None = None,
) -> str:
    """The player as a whole page.

    Parameters
    ----------
    positions, paths, radio, flows
        As in :func:`lightlag.swarm.plot.snapshot`.
    every_s
        Simulated time between two pictures.
    """
    inside = player(positions, every_s=every_s, radio=radio, paths=paths, flows=flows)
    name = html.escape(title)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{GENERATOR}\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name}</title>\n</head>\n<body>\n<h1>{name}</h1>\n{inside}\n</body>\n</html>\n"
    )


def player(
    positions: pl.DataFrame,
    *,
    every_s: float = 0.5,
    radio: Radio | None = None,
    paths: pl.DataFrame | None = None,
    flows: Sequence[str] | None = None,
) -> str:
    """The player as a part of a page; a page has one at most. Links are those that carry data, darker with more SNR."""
    swarm = Swarm(positions)
    if not every_s > 0:
        raise InputError(f"every_s: {every_s:g} s between two pictures; it must be above 0")
    count = int((swarm.end_s - swarm.start_s) / every_s) + 1
    if count > MOST_PICTURES:
        least = (swarm.end_s - swarm.start_s) / (MOST_PICTURES - 1)
        raise InputError(f"every_s: {count} pictures; {MOST_PICTURES} at most, so every_s = {least:.3g} or more")
    times = [swarm.start_s + every_s * at for at in range(count)]
    data = {
        "times": [round(time, 6) for time in times],
        "nodes": swarm.nodes,
        "places": [np.round(swarm.at(time), 1).tolist() for time in times],
        "links": [[[a, b, round(snr, 1)] for a, b, snr in swarm.links(time, radio or Radio())] for time in times],
        "ways": [list(current(swarm, paths, time, flows).values()) for time in times],
        "low": swarm.low.tolist(),
        "high": swarm.high.tolist(),
        "least": (radio or Radio()).least_snr_db,
        "colours": list(style.COLOURS),
    }
    # A closing tag inside a name would end the script.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div id="swarm">\n<svg viewBox="0 0 {_SIDE} {_SIDE}" width="{_SIDE}" height="{_SIDE}"></svg>\n'
        f'<p><button type="button">play</button> <input type="range" min="0" max="{count - 1}" value="0" '
        f'style="width:{_SIDE - 200}px" aria-label="time"> <output></output></p>\n'
        f'<script type="application/json">{text}</script>\n<script>{_SCRIPT}</script>\n</div>'
    )


_SCRIPT = """
(() => {
  const root = document.getElementById("swarm"), svg = root.querySelector("svg");
  const data = JSON.parse(root.querySelector("script").textContent);
  const [slider, button, told] = ["input", "button", "output"].map((name) => root.querySelector(name));
  const side = svg.viewBox.baseVal.width, edge = 14;
  const wide = Math.max(data.high[0] - data.low[0], data.high[1] - data.low[1], 1);
  const x = (place) => edge + (place[0] - data.low[0]) / wide * (side - 2 * edge);
  const y = (place) => side - edge - (place[1] - data.low[1]) / wide * (side - 2 * edge);
  const make = (name, values, text) => {
    const one = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in values) one.setAttribute(key, values[key]);
    if (text) { const title = make("title", {}); title.textContent = text; one.append(title); }
    return one;
  };
  const line = (from, to, values) =>
    make("line", { x1: x(from), y1: y(from), x2: x(to), y2: y(to), ...values });
  const draw = () => {
    const at = Number(slider.value), places = data.places[at], parts = [];
    for (const [a, b, snr] of data.links[at]) {
      const strength = Math.min(1, 0.15 + (snr - data.least) / 20);
      parts.push(line(places[a], places[b], { stroke: "#6b6b6b", "stroke-opacity": strength }));
    }
    data.ways[at].forEach((nodes, flow) => {
      const colour = data.colours[flow % data.colours.length];
      for (let i = 1; i < nodes.length; i++)
        parts.push(line(places[nodes[i - 1]], places[nodes[i]], { stroke: colour, "stroke-width": 2.5 }));
    });
    const height = Math.max(data.high[2] - data.low[2], 1);
    places.forEach((place, i) => {
      const hue = 260 - 200 * (place[2] - data.low[2]) / height;
      const values = { cx: x(place), cy: y(place), r: 5, fill: `hsl(${hue} 70% 45%)` };
      parts.push(make("circle", values, `${data.nodes[i]}: ${place.join(", ")} m`));
    });
    svg.replaceChildren(...parts);
    told.textContent = `${data.times[at].toFixed(1)} s, ${data.links[at].length} links`;
  };
  let playing = 0;
  const stop = () => { clearInterval(playing); playing = 0; button.textContent = "play"; };
  button.addEventListener("click", () => {
    if (playing) return stop();
    if (slider.value === slider.max) slider.value = 0;
    button.textContent = "stop";
    playing = setInterval(() => {
      if (slider.value === slider.max) return stop();
      slider.value = Number(slider.value) + 1;
      draw();
    }, 100);
  });
  slider.addEventListener("input", draw);
  draw();
})();
"""
