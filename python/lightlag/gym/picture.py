"""Images of an episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lightlag.gym.task import FEATURES

__all__ = ["draw", "line"]

_NAMES = list(FEATURES)
_PANELS = (
    ("delivery_rate", "Delivery rate in Mbit/s"),
    ("rtt", "Round-trip time in s"),
    ("loss", "Loss"),
)
_INCHES, _DPI = (6.4, 4.8), 100


def draw(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Returns an array of 480 × 640 × 3 bytes: delivery rate, round-trip time and losses over time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_INCHES, dpi=_DPI, layout="constrained")
    canvas: Any = FigureCanvasAgg(figure)
    table = np.array(rows)
    time = table[:, _NAMES.index("time")]
    for axes, (name, label) in zip(figure.subplots(len(_PANELS), sharex=True), _PANELS, strict=True):
        axes.step(time, table[:, _NAMES.index(name)], where="pre")
        axes.set_ylabel(label, fontsize="small")
        axes.set_ylim(bottom=0)
    axes.set_xlabel("Time in s")
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def line(rows: Sequence[np.ndarray]) -> str:
    """Returns the last interval as a line of text."""
    last = dict(zip(_NAMES, rows[-1], strict=True))
    return (
        f"{last['time']:10.3f} s  {last['delivery_rate']:8.3f} Mbit/s  {1e3 * last['rtt']:8.1f} ms  "
        f"{100 * last['loss']:5.1f} % lost\n"
    )
