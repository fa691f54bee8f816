"""The parts of a summary as rows of text for people; the engine writes them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.records.lists import column
from lightlag.records.summary import legs_of
from lightlag.text.table import Row

if TYPE_CHECKING:
    from lightlag.results.result import Result

_MAX_WAYS = 8


def shown_flows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the flows that people see: all if there are at most 20, otherwise the first 20 that delivered data.

    Where no flow delivered data, the first 20 are shown.
    """
    flows: Sequence[dict[str, Any]] = summary["flows"]
    return [flows[at] for at in _choice(flows)["shown"]]


def other_flows(summary: dict[str, Any]) -> str:
    """Returns a line about the flows that :func:`shown_flows` leaves out, empty if it shows all."""
    return str(_choice(summary["flows"])["hidden"])


def flow_rows(summary: dict[str, Any]) -> list[Row]:
    """The flows of a summary as text: those of :func:`shown_flows`, each with a row for every leg if it has any."""
    flows, legs = shown_flows(summary), legs_of(summary)
    return _rows("flows", flows, legs=[leg for flow in flows for leg in legs.get(flow["name"], [])])


def link_rows(summary: dict[str, Any]) -> list[Row]:
    """The link directions of a summary as text, for people: those that dropped most or were busiest, at most 8."""
    links: Sequence[dict[str, Any]] = summary["links"]
    causes = [key for key in links[0] if key.startswith("dropped_")] if links else []
    weights = {"dropped": [column(links, cause) for cause in causes], "utilisation": column(links, "utilisation")}
    return _rows("links", [links[at] for at in _asked("shown_links", weights)])


def radio_rows(summary: dict[str, Any]) -> list[Row]:
    """The radios of a summary as text, for people: the busiest, at most 8."""
    return _rows("interfaces", summary.get("interfaces", []), title="Radios")


def medium_rows(summary: dict[str, Any]) -> list[Row]:
    """The media of a summary as text, for people: sums over the radios on each."""
    return _rows("interfaces", summary.get("interfaces", []), title="Media")


def proxy_rows(summary: dict[str, Any]) -> list[Row]:
    """The flows at proxies as text, for people: at most the first 20."""
    return _rows("proxies", summary.get("proxies", []))


def way_rows(result: Result) -> list[Row]:
    """The ways of flows through a sky as text: at most 8, those of :func:`shown_flows` first.

    Round trips are those that senders measured, the greatest of those that were recorded.
    """
    parts = result.parts
    least_rtts = dict(zip(column(parts["flows"], "name"), column(parts["flows"], "min_rtt_s"), strict=True))
    starts = result.paths.filter(hop=0)
    crossing = dict.fromkeys(starts["flow"].unique(maintain_order=True).to_list())
    first = [flow["name"] for flow in shown_flows(parts) if flow["name"] in crossing]
    names = itertools.islice(dict.fromkeys([*first, *crossing]), _MAX_WAYS)
    # A table of each flow would take gigabytes if there are many.
    parts_of = [starts.filter(starts["flow"] == name) for name in names]
    trace = result.trace() if parts["scenario"]["record"]["trace"] != "off" else None
    ways = []
    for part in parts_of:
        name = str(part["flow"][0])
        rtts = None if trace is None else trace.filter(trace["flow"].cast(str) == name)["rtt_s"]
        ways.append(
            {
                "flow": name,
                "least_rtt_s": least_rtts[name],
                "greatest_rtt_s": None if rtts is None else rtts.drop_nans().max(),
                "times_s": part["time_s"].to_list(),
                "links": part["hops"].to_list(),
                "end_s": result.simulated_s,
            }
        )
    return _rows_of(_asked("ways", ways))


def _choice(flows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The places of the flows that people see, and a line about the others."""
    choice: dict[str, Any] = _asked("shown_flows", column(flows, "delivered_bytes"))
    return choice


def _rows(name: str, entries: Sequence[dict[str, Any]], title: str | None = None, **others: Any) -> list[Row]:
    """The rows of a list of a summary: those of the table with this title, or of the only one."""
    tables = _asked("tables", {name: list(entries), **others}) if entries else []
    return next((_rows_of(table) for table in tables if title in (None, table["title"])), [])


def _rows_of(table: dict[str, Any]) -> list[Row]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def _asked(what: str, data: Any) -> Any:
    return json.loads(_engine.analysis(json.dumps({what: data})))
