"""The frame of a report: one HTML file with its style, scripts and data, which loads nothing from the network."""

from __future__ import annotations

import html
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources

from lightlag.files.output import GENERATOR
from lightlag.report.charts import Chart

ZOOMING = (
    '<p class="hint">Drag across a chart to zoom, double-click to show all; the keys +, −, 0 and the arrow keys do '
    "the same. Click a name above a chart to hide or show its line.</p>"
)
"""Hint below charts; printed pages omit it."""

__all__ = ["ZOOMING", "Cell", "anchors", "data_links", "facts", "figure", "page", "section", "table", "text"]


def text(value: object) -> str:
    """Returns a value as text in HTML."""
    return html.escape(str(value))


def page(title: str, body: Iterable[str], charts: Sequence[Chart] = ()) -> str:
    """Returns a complete page. Its script renders the charts in the elements that the body has for them."""
    inside = "\n".join(body)
    data = {chart.name: chart.to_json() for chart in charts}
    # A closing tag inside a name would end the script.
    plain = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"{GENERATOR}\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{text(title)}</title>\n<style>{_part('page.css')}</style>\n</head>\n"
        f"<body>\n<main>\n{inside}\n</main>\n"
        f'<script type="application/json" id="charts">{plain}</script>\n'
        f"<script>{_script()}</script>\n</body>\n</html>\n"
    )


def _script() -> str:
    """Returns the scripts as a single script, which defines no global names."""
    charts, tables = ("".join(map(_part, names)) for names in (("drawing.js", "panel.js", "chart.js"), ("tables.js",)))
    return f'"use strict";\n(() => {{\n{charts}}})();\n(() => {{\n{tables}}})();\n'


@cache
def _part(name: str) -> str:
    return resources.files("lightlag.report").joinpath(name).read_text("utf-8")


class Cell:
    """A cell of a table.

    Parameters
    ----------
    shown
        Text of the cell.
    at
        Key by which its column is sorted. Defaults to the text.
    is_number, is_text
        Whether the text is right-aligned; whether it keeps its line breaks.
    inside
        HTML instead of the text.
    """

    def __init__(
        self,
        shown: object,
        at: object = None,
        *,
        is_number: bool = False,
        is_text: bool = False,
        inside: str | None = None,
    ) -> None:
        self._shown, self._at, self._inside, self.is_number = shown, at, inside, is_number
        self._kind = ' class="n"' if is_number else ' class="text"' if is_text else ""

    def __str__(self) -> str:
        at = "" if self._at is None else f' data-at="{text(self._at)}"'
        return f"<td{self._kind}{at}>{text(self._shown) if self._inside is None else self._inside}</td>"


def table(heads: Iterable[str], rows: Iterable[Iterable[Cell]], *, sortable: bool = True) -> str:
    """Returns a table.

    Parameters
    ----------
    sortable
        Whether the table can be sorted by its columns and, if it has many rows, filtered.
    """
    every = [list(row) for row in rows]
    numbers = [cell.is_number for cell in every[0]] if every else []
    kinds = itertools.chain((' class="n"' if is_number else "" for is_number in numbers), itertools.repeat(""))
    head = "".join(f'<th scope="col"{kind}>{text(one)}</th>' for one, kind in zip(heads, kinds, strict=False))
    body = "".join(f"<tr>{''.join(map(str, row))}</tr>" for row in every)
    kind = ' class="sortable"' if sortable else ""
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="table">'
        f"<table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def section(name: str, title: str, *parts: str, is_open: bool | None = None, is_long: bool = False) -> str:
    """Returns a part of a page with a title.

    Parameters
    ----------
    is_open
        Whether the part is open or closed at first; by default it cannot be closed.
    is_long
        Whether printed pages omit it.
    """
    inside = "\n".join(parts)
    if is_open is None:
        return f'<section><h2 id="{name}">{text(title)}</h2>\n{inside}</section>'
    kind = ' class="long"' if is_long else ""
    return (
        f'<section><details{kind}{" open" if is_open else ""}><summary><h2 id="{name}">{text(title)}</h2></summary>\n'
        f"{inside}</details></section>"
    )


def anchors(places: Mapping[str, str]) -> str:
    """Returns links to the parts of a page, by the names of the parts."""
    links = "".join(f'<a href="#{name}">{text(title)}</a>' for name, title in places.items())
    return f'<nav aria-label="parts of the report">{links}</nav>'


def figure(chart: Chart) -> str:
    """Returns the element of a chart. Each panel has a text alternative that describes its content."""
    width = f' style="--panel: {chart.panel_width}rem"'
    panels = "".join(
        f'<div class="panel" tabindex="0" role="img" aria-label="{text(panel.says)}"></div>' for panel in chart.panels
    )
    return (
        f'<figure id="{chart.name}"><h3>{text(chart.title)}</h3><div class="panels"{width}>{panels}</div>'
        f"<noscript><p>This chart needs the page's script. {text(' '.join(one.says for one in chart.panels))}</p>"
        f"</noscript><figcaption>{text(chart.caption)}</figcaption></figure>"
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Returns names with their values, as an HTML list."""
    return "<dl>" + "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in pairs) + "</dl>"


def data_links(files: Mapping[str, str]) -> str:
    """Returns links to the files next to the page, with their descriptions."""
    if not files:
        return ""
    kinds: dict[str, list[str]] = {}
    for name, about in files.items():
        kinds.setdefault(about, []).append(f'<a href="{text(name)}">{text(name)}</a>')
    rows = "".join(f"<li>{', '.join(links)}: {text(about)}</li>" for about, links in kinds.items())
    return f"<p>In the directory of this page:</p><ul>{rows}</ul>"
