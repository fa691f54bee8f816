"""The parts of a summary as rows of text for display; the engine writes them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.records.lists import column
from lightlag.text.table import Row

if TYPE_CHECKING:
    from lightlag.results.result import Result

_MAX_WAYS = 8


def shown_flows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the displayed flows: all if there are at most 20, otherwise the first 20 that delivered data.

    Where no flow delivered data, the first 20 are shown.
    """
    flows: Sequence[dict[str, Any]] = summary["flows"]
    return [flows[at] for at in _choice(flows)["shown"]]


def other_flows(summary: dict[str, Any]) -> str:
    """Returns a line about the flows that :func:`shown_flows` leaves out, empty if it shows all."""
    return str(_choice(summary["flows"])["hidden"])


def flow_rows(summary: dict[str, Any]) -> list[Row]:
    """Returns the flows of a summary as text.

    They are the flows from :func:`shown_flows`, with one row per leg for flows that have legs.
    """
    flows = shown_flows(summary)
    names = {flow["name"] for flow in flows}
    return _rows("flows", flows, legs=[leg for leg in summary.get("legs", []) if leg["flow"] in names])


def link_rows(summary: dict[str, Any]) -> list[Row]:
    """Returns the link directions of a summary as text: at most 8, those with the most drops or the highest load."""
    links: Sequence[dict[str, Any]] = summary["links"]
    causes = [key for key in links[0] if key.startswith("dropped_")] if links else []
    weights = {"dropped": [column(links, cause) for cause in causes], "utilisation": column(links, "utilisation")}
    return _rows("links", [links[at] for at in _asked("shown_links", weights)])


def radio_rows(summary: dict[str, Any]) -> list[Row]:
    """Returns the radios of a summary as text: at most 8, the busiest ones."""
    return _rows("interfaces", summary.get("interfaces", []), title="Radios")


def medium_rows(summary: dict[str, Any]) -> list[Row]:
    """Returns the media of a summary as text: sums over the radios on each medium."""
    return _rows("interfaces", summary.get("interfaces", []), title="Media")


def proxy_rows(summary: dict[str, Any]) -> list[Row]:
    """Returns the flows at proxies as text: at most the first 20."""
    return _rows("proxies", summary.get("proxies", []))


def tunnel_rows(summary: dict[str, Any]) -> list[Row]:
    """Returns the directions of tunnels as text: at most the first 20."""
    return _rows("tunnels", summary.get("tunnels", []))


def way_rows(result: Result) -> list[Row]:
    """Returns the paths of flows over a constellation as text: at most 8, starting with the flows from
    :func:`shown_flows`.

    Round trips are as measured by senders: the maximum of the recorded values.
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
    """Returns the indices of the displayed flows, and a line about the others."""
    choice: dict[str, Any] = _asked("shown_flows", column(flows, "delivered_bytes"))
    return choice


def _rows(name: str, entries: Sequence[dict[str, Any]], title: str | None = None, **others: Any) -> list[Row]:
    """Returns the rows of text for a list of a summary: from the table with this title, or from the only table."""
    tables = _asked("tables", {name: list(entries), **others}) if entries else []
    return next((_rows_of(table) for table in tables if title in (None, table["title"])), [])


def _rows_of(table: dict[str, Any]) -> list[Row]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def _asked(what: str, data: Any) -> Any:
    return json.loads(_engine.analysis(json.dumps({what: data})))
