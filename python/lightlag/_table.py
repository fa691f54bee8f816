"""Tables of text, in the terminal and in notebooks."""

from __future__ import annotations

import html
import sys
from collections.abc import Sequence
from typing import TypeAlias

from lightlag._text import printable

__all__ = ["Row", "html_table", "print_rows"]

Row: TypeAlias = dict[str, str]
"""The text of each column by the column's name."""

DISPENSABLE: tuple[str, ...] = ("mean cwnd", "mean queue", "timeouts", "mean RTT", "carried", "runs", "max queue")
DISPENSABLE += ("congestion", "start", "out of order", "dup ACKs", "packets")
"""Columns that narrow terminals do without, in this order, unless they come first."""


def print_rows(rows: list[Row], title: str) -> None:
    """Prints rows under a title; all have the keys of the first."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    if not rows:
        return
    rows = [{printable(key): printable(cell) for key, cell in row.items()} for row in rows]
    title = printable(title)
    console = Console(markup=False, highlight=False)
    keys = _fitting(rows, console.width if console.is_terminal else sys.maxsize)
    table = Table(
        box=SIMPLE_HEAD,
        title=title or None,
        title_justify="left",
        title_style="bold",
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for key in keys:
        is_number = rows[0][key][:1].isdigit() or rows[0][key] == "–"
        table.add_column(key, justify="right" if is_number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(row[key] for key in keys))
    # Wider than the terminal is better than cut off.
    width = max(_width(rows, keys), len(title), console.width if console.is_terminal else 0)
    Console(markup=False, highlight=False, width=width).print(table)


def _fitting(rows: list[Row], width: int) -> list[str]:
    keys = list(rows[0])
    for dispensable in DISPENSABLE:
        if _width(rows, keys) > width and dispensable in keys[1:]:
            keys.remove(dispensable)
    return keys


def _width(rows: list[Row], keys: list[str]) -> int:
    """Characters of a table: a blank in front, two between columns."""
    return sum(2 + max(len(key), *(len(row[key]) for row in rows)) for key in keys)


def html_table(rows: Sequence[Row]) -> str:
    """Rows of text as an HTML table."""
    if not rows:
        return ""
    cells = "".join(f"<th>{html.escape(key)}</th>" for key in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(value)}</td>" for value in row.values()) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
