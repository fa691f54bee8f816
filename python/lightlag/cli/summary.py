"""The tables that a run prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightlag.analyse import aggregate_goodput, jain
from lightlag.records.lists import column
from lightlag.records.rows import (
    flow_rows,
    link_rows,
    medium_rows,
    other_flows,
    proxy_rows,
    radio_rows,
    tunnel_rows,
    way_rows,
)
from lightlag.text.overview import counted
from lightlag.text.quantities import number, rate
from lightlag.text.table import print_rows

if TYPE_CHECKING:
    from lightlag.results.result import Result

__all__ = ["print_result"]


def print_result(result: Result) -> None:
    """Prints the tables of a run, and a line with its size and hash."""
    summary = result.parts
    print_rows(flow_rows(summary), f"{result.name} (seed {result.seed})")
    if others := other_flows(summary):
        print(others)
    links = link_rows(summary)
    print_rows(links, "")
    if (more := len(summary["links"]) - len(links)) > 0:
        print(f"and {counted(more, 'more link direction')}")
    if summary["scenario"].get("constellation") and (ways := way_rows(result)):
        print_rows(ways, "")
        if (more := result.paths["flow"].n_unique() - len(ways)) > 0:
            print(f"and paths of {counted(more, 'more flow')}")
    if summary["scenario"].get("constellation"):
        print(f"Constellation: {result.sky().about()}")
    if proxies := proxy_rows(summary):
        print_rows(proxies, "")
    if tunnels := tunnel_rows(summary):
        print_rows(tunnels, "")
    if media := medium_rows(summary):
        print_rows(media, "")
    if radios := radio_rows(summary):
        print_rows(radios, "")
        if (more := len(summary["interfaces"]) - len(radios)) > 0:
            print(f"and {counted(more, 'more radio')}")
    if len(summary["flows"]) > 1:
        goodputs = column(summary["flows"], "goodput_bps")
        total = rate(aggregate_goodput(summary["flows"], result.simulated_s))
        print(f"{len(goodputs):,} flows: {total} together, Jain fairness {jain(goodputs):.3f}")
    print(
        f"{number(result.simulated_s, 6)} s simulated in {number(result.wall_s, 3)} s, "
        f"{summary['packet_hops']:,} packet-hops, hash {result.result_hash}"
    )
