"""Scenarios, results and studies as displayed at a Python prompt (one line) and in a notebook (at most a screen)."""

from __future__ import annotations

import html
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lightlag.text.table import Row, html_table
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag.scenario import Network, Scenario

__all__ = ["counted", "frame", "line", "page", "tables"]

MOST_ROWS = 10
"""Maximum number of rows of a table."""
_PARTS = {"links": "link", "stations": "station", "media": "medium", "nodes": "node", "flows": "flow"}
_PARTS |= {"proxies": "proxy", "tunnels": "tunnel"}
_PLURALS = {"medium": "media", "proxy": "proxies"}


def counted(count: int, noun: str) -> str:
    """Returns a number with its noun.

    Examples
    --------
    >>> counted(1, "link"), counted(2000, "proxy")
    ('1 link', '2,000 proxies')
    """
    return f"{count:,} {noun if count == 1 else _PLURALS.get(noun, f'{noun}s')}"


def line(shown: Network | Scenario) -> str:
    """Returns the line for a scenario at a prompt."""
    return f"<{type(shown).__name__} {printable(shown.name)!r}: {_parts(shown)}>"


def _parts(shown: Network | Scenario) -> str:
    topology = shown.topology
    kind = topology.get("kind") if isinstance(topology, Mapping) else getattr(topology, "kind", None)
    parts = [f"topology {printable(kind)}"] if topology is not None else []
    parts += ["a constellation"] if shown.constellation is not None else []
    parts += [counted(len(getattr(shown, name)), noun) for name, noun in _PARTS.items() if getattr(shown, name)]
    duration, seed = getattr(shown, "duration", None), getattr(shown, "seed", None)
    parts += [printable(duration)] if duration is not None else []
    parts += [f"seed {seed}"] if seed is not None else []
    return ", ".join(parts) or "empty"


def page(shown: Network | Scenario) -> str:
    """Returns the HTML of a scenario for a notebook, with a diagram of its topology."""
    from lightlag.text.topology import picture

    head = f"<b>{html.escape(printable(shown.name))}</b> · {html.escape(_parts(shown))}"
    scenario = shown if not hasattr(shown, "scenario") else shown.scenario()
    try:
        drawn = picture(scenario.to_dict())
    except (ValueError, TypeError, KeyError, AttributeError):
        # A network under construction may hold invalid values; the run reports them.
        drawn = ""
    return frame(head, drawn)


def frame(head: str, *parts: str) -> str:
    """Returns the parts of a page under a heading; a part that is too wide scrolls by itself."""
    scrolling = (f'<div style="overflow-x:auto">{part}</div>' for part in parts if part)
    return f"<div>{head}{''.join(scrolling)}</div>"


def tables(several: Sequence[Sequence[Row]], nouns: Sequence[str], hidden: Sequence[int] = ()) -> list[str]:
    """Returns the first rows of tables as HTML, and the number of rows that are left out.

    Parameters
    ----------
    hidden
        Number of rows that were already left out of each of the first tables.
    """
    shown = []
    lacks = itertools.chain(hidden, itertools.repeat(0))
    for rows, noun, lacking in zip(several, nouns, lacks, strict=False):
        more = max(len(rows) - MOST_ROWS, 0) + lacking
        shown.append(html_table(rows[:MOST_ROWS]) + (f"and {counted(more, f'more {noun}')}" if more > 0 else ""))
    return shown
