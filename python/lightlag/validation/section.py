"""A section of a validation: a table, a verdict line and additional values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lightlag.analyse import mean_interval

if TYPE_CHECKING:
    import polars as pl

    from lightlag.validation.tasks import Measured

__all__ = ["Section", "columns", "groups", "shown"]

HALF = "_half_width"


@dataclass(frozen=True)
class Section:
    """One section of a validation."""

    name: str
    title: str
    rows: list[dict[str, Any]]
    """Rows of the table.

    A column that ends in ``_half_width`` is the half width of the 95 % interval of the one before it.
    """
    verdict: str
    """The main results in one line."""
    holds: bool | None = None
    """Whether the tolerance that was fixed in advance holds; None if there is no tolerance."""
    figures: dict[str, Any] = field(default_factory=dict)
    """Further values that complement the table."""
    about: str = ""
    """The paragraph of the page that describes scenario and criterion."""
    curves: Any = None
    """The curves of a run, if the section has a figure of one."""

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
    """Yields the runs of each point, in order."""
    points: dict[tuple[Any, ...], list[Measured]] = {}
    for run in measured:
        points.setdefault(run.point, []).append(run)
    yield from points.items()


def columns(runs: Sequence[Measured], *names: str) -> dict[str, Any]:
    """Returns the mean and half width of metrics over the runs that have them."""
    row: dict[str, Any] = {}
    for name in names:
        interval = mean_interval(value for run in runs if not math.isnan(value := run.values[name]))
        row |= {name: interval.mean, f"{name}{HALF}": interval.half_width}
    return row


def shown(rows: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Returns the rows as text, with a mean and its half width in one cell."""
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
