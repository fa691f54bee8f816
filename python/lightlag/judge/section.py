"""A section of a judgement: a table, a verdict line and further figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lightlag.analyse import mean_interval

if TYPE_CHECKING:
    import polars as pl

    from lightlag.judge.tasks import Measured

__all__ = ["Section", "columns", "groups", "shown"]

HALF = "_half_width"


@dataclass(frozen=True)
class Section:
    """One section."""

    name: str
    title: str
    rows: list[dict[str, Any]]
    """A column that ends in ``_half_width`` is the half width of the 95 % interval of the column before it."""
    verdict: str
    """Numbers in one line."""
    holds: bool | None = None
    """Whether a tolerance that was fixed beforehand holds; None where there is none."""
    figures: dict[str, Any] = field(default_factory=dict)
    """Numbers beside the table."""

    @property
    def table(self) -> pl.DataFrame:
        """The rows as a data frame."""
        import polars as pl

        return pl.DataFrame(self.rows, infer_schema_length=None)

    def record(self) -> dict[str, Any]:
        """Everything as plain values; numbers that do not exist are None."""
        plain = {"title": self.title, "verdict": self.verdict, "holds": self.holds, "rows": self.rows}
        return dict(_finite(plain | self.figures))


def groups(measured: Sequence[Measured]) -> Iterator[tuple[tuple[Any, ...], list[Measured]]]:
    """The runs of each point, in order."""
    points: dict[tuple[Any, ...], list[Measured]] = {}
    for run in measured:
        points.setdefault(run.point, []).append(run)
    yield from points.items()


def columns(runs: Sequence[Measured], *names: str) -> dict[str, Any]:
    """Mean and half width of measures over runs, where they have them."""
    row: dict[str, Any] = {}
    for name in names:
        interval = mean_interval(value for run in runs if not math.isnan(value := run.values[name]))
        row |= {name: interval.mean, f"{name}{HALF}": interval.half_width}
    return row


def shown(rows: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Rows as text: a mean with its half width in one cell."""
    return [
        {name: _cell(value, row.get(f"{name}{HALF}")) for name, value in row.items() if not name.endswith(HALF)}
        for row in rows
    ]


def _cell(value: Any, half: float | None) -> str:
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "–"
    return f"{value:.4g}" + ("" if half is None or math.isnan(half) else f" ± {half:.2g}")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
