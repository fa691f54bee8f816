"""The report of a run: the reasons for its speed, a timeline, tables, and how to reproduce it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from lightlag import _engine
from lightlag.records import origin
from lightlag.records.rows import flow_rows, link_rows, medium_rows, other_flows, proxy_rows, radio_rows, tunnel_rows
from lightlag.report.page import ZOOMING, Cell, anchors, data_links, figure, page, section, table, text
from lightlag.report.slow import Account, account
from lightlag.report.timeline import timeline
from lightlag.report.waterfall import waterfall

if TYPE_CHECKING:
    from lightlag.records.records import Records
    from lightlag.text.table import Row

__all__ = ["FILES", "Causes", "run_page"]


class Causes(Protocol):
    """Measured causes of the speed of a flow, such as a :class:`lightlag.Diagnosis`."""

    def headline(self) -> str:
        """Returns the speed of the flow, with the number of seeds."""

    def sentences(self) -> list[str]:
        """Returns the speed and the conclusion in sentences."""

    def rows(self) -> list[Row]:
        """Returns the effects of the causes as text."""


FILES = {f"{table['name']}.parquet": table["about"] for table in json.loads(_engine.dictionary())} | {
    "globe.html": "animated globe with the paths of the first flows",
    "swarm.html": "animated swarm with nodes, links and paths",
    "run.json": "the scenario with every default, seed, version and hash",
}
"""Files that a results directory may hold, with their descriptions."""
_PLACES = {
    "why": "What determined its speed",
    "timeline": "Timeline",
    "tables": "Tables",
    "repeat": "How to reproduce it",
}


def run_page(result: Records, files: Mapping[str, str] | None = None, causes: Causes | None = None) -> str:
    """Returns the report as HTML.

    Parameters
    ----------
    files
        The files that the page links to, with their descriptions.
    causes
        The measured causes; without them, the page states the command that measures them.
    """
    charts = timeline(result)
    page_load = waterfall(result)
    places = {"why": _PLACES["why"], **({"waterfall": "Waterfall of a page"} if page_load else {})} | _PLACES
    ended = ", interrupted" if result.interrupted else ""
    lead = f"seed {result.seed}, {result.simulated_s:.6g} s simulated{ended}"
    nothing = "<p>The scenario records neither a trace, nor queues, nor drops.</p>"
    body = [
        f"<h1>{text(result.name)}</h1>",
        f'<p class="lead">{text(lead)}</p>',
        anchors(places),
        _why(account(result), _causes(result, causes)),
        *([section("waterfall", places["waterfall"], page_load)] if page_load else []),
        section("timeline", "Timeline", *([ZOOMING, *map(figure, charts)] if charts else [nothing])),
        section("tables", "Tables", data_links(files or {}), *_tables(result), is_open=True),
        section("repeat", "How to reproduce it", _repetition(result), is_open=True),
    ]
    return page(f"{result.name}: a run", body, charts)


def _why(found: Account, causes: str) -> str:
    parts = []
    for name, sentences in found.flows:
        title = f"<h3>{text(name)}</h3>" if len(found.flows) > 1 else ""
        parts.append(f"{title}<ul>{''.join(f'<li>{text(sentence)}</li>' for sentence in sentences)}</ul>")
    inside = "".join(parts)
    if len(found.flows) > 1:
        inside = f"<details open><summary>The slowest flows</summary>{inside}</details>"
    return (
        f'<section class="answer"><h2 id="why">{_PLACES["why"]}</h2><p class="headline">{text(found.headline)}</p>'
        f"{inside}{causes if found.flows else ''}</section>"
    )


def _causes(result: Records, causes: Causes | None) -> str:
    """Returns the measured causes, or the command that adds them to the page."""
    if causes is None:
        if result.repeat is None:
            return ""
        commands = [f"<code>{text(command)}</code>" for command in (origin.again("why"), "lightlag report . --why -f")]
        return f"<p>In this directory, {commands[0]} measures the causes, and {commands[1]} adds them to this page.</p>"
    sentences = "".join(f"<li>{text(sentence)}</li>" for sentence in [causes.headline(), *causes.sentences()[1:]])
    rows = causes.rows()
    return f"<h3>Causes</h3><ul>{sentences}</ul>{_table(rows) if rows else ''}"


def _tables(result: Records) -> list[str]:
    summary = result.summary
    kinds: dict[str, list[Row]] = {
        "Flows": flow_rows(summary),
        "Links": link_rows(summary),
        "Proxies": proxy_rows(summary),
        "Tunnels": tunnel_rows(summary),
        "Media": medium_rows(summary),
        "Radios": radio_rows(summary),
    }
    notes = {"Flows": text(other_flows(summary))}
    return [f"<h3>{title}</h3>{_table(rows)}{_note(notes.get(title))}" for title, rows in kinds.items() if rows]


def _note(note: str | None) -> str:
    return f"<p>{note}</p>" if note else ""


def _table(rows: list[Row]) -> str:
    return table(
        list(rows[0]), [[Cell(value, is_number=value[:1].isdigit()) for value in row.values()] for row in rows]
    )


def _repetition(result: Records) -> str:
    again = result.repeat
    facts = [("in this directory", again)] if again is not None else []
    facts += origin.facts({"version": result.version} | result.origin)
    facts += [("seed", str(result.seed)), ("hash", result.result_hash)]
    listed = "".join(f"<dt>{text(name)}</dt><dd><code>{text(value)}</code></dd>" for name, value in facts)
    scenario = json.dumps(result.scenario, indent=2, ensure_ascii=False)
    return (
        f'<dl>{listed}</dl><details class="long"><summary>The scenario, with every default</summary>'
        f'<pre tabindex="0">{text(scenario)}</pre></details>'
    )
