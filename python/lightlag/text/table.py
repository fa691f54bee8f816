"""Text tables in the terminal, and HTML tables for notebooks."""

from __future__ import annotations

import html
import os
import shutil
import sys
from collections.abc import Sequence
from typing import TypeAlias
from unicodedata import combining, east_asian_width

from lightlag.text.terminal import printable

__all__ = ["Row", "html_table", "print_rows"]

Row: TypeAlias = dict[str, str]
"""A row of a table: the text of each column, by the column's name."""

DISPENSABLE: tuple[str, ...] = ("mean cwnd", "mean queue", "timeouts", "mean RTT", "carried", "runs", "max queue")
DISPENSABLE += ("congestion", "start", "out of order", "dup ACKs", "packets")
"""Columns that are left out on narrow terminals, in this order; the first column always stays."""


def print_rows(rows: list[Row], title: str) -> None:
    """Prints rows under a title; all rows have the keys of the first one.

    Most commands print only a table, and loading a library for tables would take longer than these commands run.

    Examples
    --------
    >>> print_rows([{"flow": "a->b", "goodput": "1.2 Mbit/s"}, {"flow": "c", "goodput": "5 bit/s"}], "pair")
    pair
    <BLANKLINE>
     flow     goodput
     ────────────────
     a->b  1.2 Mbit/s
     c        5 bit/s
    <BLANKLINE>
    """
    if not rows:
        return
    rows = [{printable(key): printable(cell) for key, cell in row.items()} for row in rows]
    is_terminal = sys.stdout.isatty()
    # Wider than the terminal is better than cut off.
    keys = _fitting(rows, shutil.get_terminal_size().columns if is_terminal else sys.maxsize)
    widths = {key: max(_cells(key), *(_cells(row[key]) for row in rows)) for key in keys}
    numbers = {key for key in keys if rows[0][key][:1].isdigit() or rows[0][key] == "–"}

    def line(cells: Row) -> str:
        padded = (_padded(cells[key], widths[key], is_number=key in numbers) for key in keys)
        return f" {'  '.join(padded)}".rstrip()

    bold = is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    strong = "\x1b[1m{}\x1b[0m".format if bold else str
    if title:
        print(f"{strong(printable(title))}\n")
    print(strong(line({key: key for key in keys})))
    print(f" {'─' * (sum(widths.values()) + 2 * (len(keys) - 1))}")
    for row in rows:
        print(line(row))
    print()


def _padded(cell: str, width: int, *, is_number: bool) -> str:
    blanks = " " * (width - _cells(cell))
    return blanks + cell if is_number else cell + blanks


def _cells(text: str) -> int:
    """Returns the number of terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def _fitting(rows: list[Row], width: int) -> list[str]:
    keys = list(rows[0])
    for dispensable in DISPENSABLE:
        if _width(rows, keys) > width and dispensable in keys[1:]:
            keys.remove(dispensable)
    return keys


def _width(rows: list[Row], keys: list[str]) -> int:
    """Returns the width of a table in characters: one blank at the left, two between columns."""
    return sum(2 + max(_cells(key), *(_cells(row[key]) for row in rows)) for key in keys)


def html_table(rows: Sequence[Row]) -> str:
    """Returns rows of text as an HTML table."""
    if not rows:
        return ""
    cells = "".join(f"<th>{html.escape(key)}</th>" for key in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(value)}</td>" for value in row.values()) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
