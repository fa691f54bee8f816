"""Several figures of comparisons as panels of one figure."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from lightlag._renamed import renamed
from lightlag.drawing import framing, grid, looks, names, style
from lightlag.drawing.style import Chart
from lightlag.drawing.styled import styled
from lightlag.errors import InputError
from lightlag.outcomes.kinds import MOST_PANELS, chosen, panel_count
from lightlag.outcomes.kinds import kinds as names_of
from lightlag.outcomes.outcomes import Outcomes
from lightlag.plot import captions
from lightlag.plot import comparison as comparison_plot
from lightlag.plot.comparison_panels import counted
from lightlag.text.terminal import printable

__all__ = ["draw"]

_MOST = 30
"""Maximum number of panels: with more, a figure would be longer than two pages."""
_PANEL_IN = 2.2
_BAR_IN = 0.3


@dataclass(frozen=True)
class _Cell:
    """A figure of one comparison, which takes one or more panels of the combined figure."""

    name: str
    """Name of the comparison, shown if there are several."""
    comparison: Outcomes
    kind: str

    @property
    def count(self) -> int:
        return panel_count(self.comparison, self.kind)

    @property
    def height_in(self) -> float:
        return 0.75 + _BAR_IN * len(self.comparison.algorithms) if self.kind == "bars" else _PANEL_IN


@styled
def draw(
    results: Mapping[str, Outcomes], kinds: Sequence[str] | None = None, *, ax: Sequence[Axes] | None = None
) -> Chart:
    """Plots panels for each figure of each comparison, with one legend; see :func:`lightlag.plot.facets`."""
    cells = _cells(results, kinds)
    counts = [cell.count for cell in cells]
    if sum(counts) > _MOST:
        raise InputError(f"{sum(counts)} panels are too many for one figure; name fewer figures, {_MOST} panels fit")
    columns = grid.columns_of(sum(counts))
    places = _columns(counts, columns) if len(results) == columns > 1 else _in_turn(counts, columns)
    rows = 1 + max(row for own in places for row, _ in own)
    figure, panels = _panels(cells, places, rows, columns, ax)
    with looks.within(dataclasses.replace(looks.current(), titled=False)):
        for cell, own in zip(cells, panels, strict=True):
            comparison_plot.draw(cell.comparison, cell.kind, own)
            _complete(cell, own)
    for kind in dict.fromkeys(cell.kind for cell in cells if cell.kind != "cwnd"):
        grid.same_scales([axes for cell, own in zip(cells, panels, strict=True) if cell.kind == kind for axes in own])
    every = [axes for own in panels for axes in own]
    shared = grid.one_legend(every)
    for cell, own in zip(cells, panels, strict=True):
        _name(cell, own)
    rows_of_legends = [max(framing.legend_rows(axes) for axes in row) for row in _by_row(places, panels)]
    framing.grow(figure, sum(rows_of_legends))
    title, note = _about(cells)
    framing.head(figure, every, title, note, handles=shared, ax=ax)
    if isinstance(figure, Chart):
        figure.caption = _caption(cells)
    return figure


def _cells(given: Mapping[str, Outcomes], kinds: Sequence[str] | None) -> list[_Cell]:
    first = next(iter(given.values()))
    # Figures of one panel fill rows, so they come first unless the caller ordered them.
    wanted = sorted(names_of(first), key=lambda kind: panel_count(first, kind) > 1) if kinds is None else list(kinds)
    if not wanted:
        raise InputError(f"no plot; name some of {', '.join(names_of(first))}")
    for at, kind in enumerate(wanted):
        for name, comparison in given.items():
            if kind not in names_of(comparison):
                if message := renamed(kind.partition("-")[0]):
                    raise InputError(message)
                whose = f"of {printable(name)} " if len(given) > 1 else ""
                raise InputError(
                    f'"{printable(kind)}" {whose}is not a plot of comparisons; '
                    f"there are {', '.join(names_of(comparison))}"
                )
        if kind in wanted[:at]:
            raise InputError(f'"{kind}" is duplicated; name each plot once')
    names = given if len(given) > 1 else [""]
    return [_Cell(name, one, kind) for kind in wanted for name, one in zip(names, given.values(), strict=True)]


Place = tuple[int, int]
"""Row and column of a panel."""


def _in_turn(counts: Sequence[int], columns: int) -> list[list[Place]]:
    """Arranges panels one after the other; a figure that has several panels starts a new row."""
    places: list[list[Place]] = []
    row, column = 0, 0
    for count in counts:
        if column and count > 1:
            row, column = row + 1, 0
        places.append([(row + (column + at) // columns, (column + at) % columns) for at in range(count)])
        row, column = row + (column + count) // columns, (column + count) % columns
        if column and count > 1:
            row, column = row + 1, 0
    return places


def _columns(counts: Sequence[int], columns: int) -> list[list[Place]]:
    """Arranges panels in one column per comparison, so that the same panels of all comparisons are side by side."""
    places: list[list[Place]] = []
    row = 0
    for first in range(0, len(counts), columns):
        own = counts[first : first + columns]
        places += [[(row + at, column) for at in range(count)] for column, count in enumerate(own)]
        row += max(own)
    return places


def _panels(
    cells: Sequence[_Cell], places: Sequence[Sequence[Place]], rows: int, columns: int, ax: Sequence[Axes] | None
) -> tuple[Chart, list[list[Axes]]]:
    if ax is not None:
        figure, grid = style.chart(1, sum(map(len, places)), ax=ax, squeeze=False)
        given = iter(grid.flat)
        return figure, [list(itertools.islice(given, len(own))) for own in places]
    heights = [0.0] * rows
    for cell, own in zip(cells, places, strict=True):
        for row, _ in own:
            heights[row] = max(heights[row], cell.height_in)
    size = (7.2 if columns == 2 else 6.4, 0.6 + sum(heights))
    figure, grid = style.chart(rows, columns, size=size, follow=0.4, squeeze=False, height_ratios=heights)
    taken = {place for own in places for place in own}
    for row, column in itertools.product(range(rows), range(columns)):
        if (row, column) not in taken:
            figure.delaxes(grid[row][column])
    return figure, [[grid[row][column] for row, column in own] for own in places]


def _by_row(places: Sequence[Sequence[Place]], panels: Sequence[Sequence[Axes]]) -> list[list[Axes]]:
    found: dict[int, list[Axes]] = {}
    for own, drawn in zip(places, panels, strict=True):
        for (row, _), axes in zip(own, drawn, strict=True):
            found.setdefault(row, []).append(axes)
    return list(found.values())


def _complete(cell: _Cell, panels: Sequence[Axes]) -> None:
    """Restores in each panel the axis labels that it shared with its neighbours."""
    label = ""
    for axes in panels:
        label = axes.get_ylabel() or label
        axes.set_ylabel(grid.shortened(label.replace("\n", " ")))
        if not axes.get_xlabel():
            axes.set_xlabel(panels[-1].get_xlabel())
        if cell.kind == "cwnd":
            axes.set_xlim(left=0)


def _name(cell: _Cell, panels: Sequence[Axes]) -> None:
    """Prefixes the title of each panel with the name of its comparison."""
    for axes in panels:
        own = " ".join(axes.get_title(loc="left").split("\n"))
        if titles := [one for one in (names.plain(cell.name), own) if one]:
            framing.panel_title(axes, ": ".join(titles))


def _caption(cells: Sequence[_Cell]) -> str:
    """Returns the caption: the kinds of panels, the number of seeds, and the intervals."""
    kinds = ", ".join(dict.fromkeys(cell.kind.replace("-", " ") for cell in cells))
    comparisons = {id(cell.comparison): cell for cell in cells}.values()
    parts = []
    for cell in comparisons:
        of = cell.comparison
        is_completion = any("completion" in one.kind for one in cells if one.comparison is of)
        title = f"{names.plain(cell.name)}, {kinds}" if cell.name else kinds[:1].upper() + kinds[1:]
        parts.append(
            captions.of_comparison(
                of, title, points=of.points, shows="means", intervals="bands and whiskers",
                measures=[captions.COMPLETION] if is_completion else [],
                extra=["Windows have the first seed"] if any(one.kind == "cwnd" for one in cells) else [],
            )
        )  # fmt: skip
    return " ".join(parts)


def _about(cells: Sequence[_Cell]) -> tuple[str, str]:
    """Returns the title and the note: the scenarios, and what the panels leave out."""
    comparisons = list({id(cell.comparison): cell.comparison for cell in cells}.values())
    names = ", ".join(dict.fromkeys(of.name for of in comparisons))
    runs = dict.fromkeys(counted(of, of.points) for of in comparisons)
    notes = [f"means of {' or '.join(runs)}, 95 % intervals" if set(runs) != {"1 run"} else "one run"]
    kinds = {cell.kind for cell in cells}
    most = max(len(of.points) for of in comparisons)
    if most > MOST_PANELS and kinds & {"goodput", "completion", "rtt", "shares"}:
        notes.append(f"{len(chosen(range(most), MOST_PANELS))} of {most} points")  # type: ignore[arg-type]
    if "cwnd" in kinds:
        notes.append("windows of the first seed")
    return names, " · ".join(notes)
