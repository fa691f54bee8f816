"""The charts of a run with a common time axis, which the engine makes from its summary and its records."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lightlag import _engine
from lightlag.records.summary import for_analysis, rows
from lightlag.report.charts import Chart, read

if TYPE_CHECKING:
    from lightlag.records.records import Records

__all__ = ["timeline"]


def timeline(result: Records) -> list[Chart]:
    """Returns the charts of a run's records."""
    return read(_engine.timeline(for_analysis(result.parts), partial(rows, result)))
