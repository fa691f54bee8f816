"""The charts of a comparison, which the engine makes from its runs.

They show the same as the figures of :mod:`lightlag.plot.comparison`, which are for print.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from lightlag import _engine
from lightlag.outcomes.kinds import MOST_COLUMNS, MOST_PANELS, chosen
from lightlag.outcomes.outcome import Outcome
from lightlag.outcomes.outcomes import Outcomes
from lightlag.report.charts import Chart, read
from lightlag.text.powers import tick_texts

__all__ = ["charts"]


def charts(comparison: Outcomes) -> list[Chart]:
    """Returns a chart for each figure of a comparison."""
    shown, with_windows = (set(chosen(comparison.points, most)) for most in (MOST_PANELS, MOST_COLUMNS))

    def with_curves(run: Outcome) -> dict[str, Any]:
        """Returns the data of a run that charts show.

        Curves are included only for the points that are shown: the curves of all points may take gigabytes.
        """
        arrived = None if run.arrived_bytes is None else run.arrived_bytes.tolist() if run.point in shown else []
        curves = (run.windows or {}) if run.point in with_windows else {}
        windows = [(flow, *(part.tolist() for part in curve)) for flow, curve in curves.items()]
        about = {"simulated_s": run.simulated_s, "capacity_bps": run.capacity_bps}
        return run.asked() | about | {"arrived": arrived, "windows": windows}

    about = comparison.asked(with_curves) | {"seed": "the first seed"}
    texts = [dict(zip(one.values, tick_texts(one.values), strict=True)) for one in comparison.variables]
    for variable, own, plain in zip(comparison.variables, texts, about["variables"], strict=True):
        plain["axis"] = dataclasses.asdict(variable.axis)
        plain["values"] = list(own.values())
    about["points"] = [[own[value] for own, value in zip(texts, point, strict=True)] for point in comparison.points]
    made = read(_engine.analysis(json.dumps({"charts": about})))
    for chart in made:
        for panel in chart.panels:
            _write_as_people(panel.plain["x"])
    return made


def _write_as_people(axis: dict[str, Any]) -> None:
    """Writes the ticks of an axis as plain numbers or as powers of ten, and its label with a capital letter."""
    if ticks := axis.get("ticks"):
        axis["ticks"] = [
            [place, text] for (place, _), text in zip(ticks, tick_texts([text for _, text in ticks]), strict=True)
        ]
    if label := axis.get("label"):
        axis["label"] = label[:1].upper() + label[1:]
