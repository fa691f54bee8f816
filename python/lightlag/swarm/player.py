"""A swarm in flight as a self-contained HTML page, with a three-dimensional view of the area and a clock."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lightlag.drawing import player as drawn
from lightlag.errors import InputError
from lightlag.swarm import paths as swarm_paths
from lightlag.swarm.paths import Radio, Swarm
from lightlag.swarm.plot import known_flows

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MOST_NODES", "MOST_PICTURES", "fitting", "page", "player"]

MOST_PICTURES = 5000
MOST_NODES = 500
"""Maximum number of nodes for which a results directory or a report contains the page by default."""
_MOST_PAIRS = 300_000
_OFTEN_S = 0.5
_STRONG_DB = 20.0
"""SNR of the links with the darkest colour, in dB above the minimum."""
_WEAKEST = 0.15


def fitting(nodes: int, seconds: float) -> float:
    """Returns the time between two frames in s that keeps the page of a swarm within a few megabytes.

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
    """Returns the animation as a complete page.

    Parameters
    ----------
    positions, paths, radio, flows
        As in :func:`lightlag.swarm.plot.snapshot`.
    every_s
        Simulated time between two frames.
    """
    return drawn.page(_recording(positions, title, every_s, radio or Radio(), paths, flows))


def player(
    positions: pl.DataFrame,
    *,
    title: str = "Swarm",
    every_s: float = 0.5,
    radio: Radio | None = None,
    paths: pl.DataFrame | None = None,
    flows: Sequence[str] | None = None,
) -> str:
    """Returns the animation as part of a longer page, in a frame.

    It shows links that carry data, darker with more SNR.
    """
    return drawn.framed(_recording(positions, title, every_s, radio or Radio(), paths, flows))


def _recording(
    positions: pl.DataFrame,
    title: str,
    every_s: float,
    radio: Radio,
    paths: pl.DataFrame | None,
    flows: Sequence[str] | None,
) -> dict[str, Any]:
    """Returns the content of the page, as ``FlightRecording`` in ``studio/src/embed/recording.ts`` describes it."""
    swarm = Swarm(positions)
    if not every_s > 0:
        raise InputError(f"every_s: {every_s:g} s between two images; it must be above 0")
    count = int((swarm.end_s - swarm.start_s) / every_s) + 1
    if count > MOST_PICTURES:
        least = (swarm.end_s - swarm.start_s) / (MOST_PICTURES - 1)
        raise InputError(
            f"every_s: {count} images exceed the maximum of {MOST_PICTURES}; use every_s = {least:.3g} or more"
        )
    times = [swarm.start_s + every_s * at for at in range(count)]
    named = [] if paths is None else known_flows(paths, flows)
    return {
        "kind": "flight",
        "title": title,
        "note": "",
        "from": times[0],
        "until": times[-1],
        "times": [round(time, 6) for time in times],
        "nodes": swarm.nodes,
        "places": [np.round(swarm.at(time), 1).tolist() for time in times],
        "links": [[[a, b, _strength(snr, radio)] for a, b, snr in swarm.links(time, radio)] for time in times],
        "ways": [] if paths is None else [_way(swarm, paths, flow, times) for flow in named],
        "charts": [],
        "low": swarm.low.tolist(),
        "high": swarm.high.tolist(),
    }


def _strength(snr_db: float, radio: Radio) -> float:
    """Returns the opacity of a link, from 0 to 1."""
    return round(min(1.0, _WEAKEST + (snr_db - radio.least_snr_db) / _STRONG_DB), 2)


def _way(swarm: Swarm, paths: pl.DataFrame, flow: str, times: Sequence[float]) -> dict[str, Any]:
    """Returns the paths of a flow that are valid at one of the given times.

    Nodes that have no position, such as servers, are left out.
    """
    index = {name: number for number, name in enumerate(swarm.nodes)}
    found = swarm_paths.paths(paths, flow)
    since = [time for time, _ in found]
    at_times = sorted({bisect.bisect_right(since, time) - 1 for time in times} - {-1})
    courses = [[round(since[at], 6), [index[name] for name in found[at][1] if name in index]] for at in at_times]
    return {"name": flow, "courses": courses}
