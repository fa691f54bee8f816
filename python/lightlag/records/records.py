"""The records of one run: its summary, and its tables, which are read on first use."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from lightlag._renamed import renamed
from lightlag.errors import InputError
from lightlag.records.source import Source, TableName

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["METRICS", "Metric", "Records", "TableName"]

Metric = Literal[
    "cwnd", "goodput", "sequence", "rtt", "queue", "swarm", "airtime", "routes", "globe", "handovers", "waterfall"
]

METRICS: dict[str, tuple[str, ...]] = {
    "cwnd": ("cwnd_segments", "ssthresh_segments", "w_max_segments", "k_s", "phase"),
    "goodput": ("arrived_bytes", "delivered_bytes"),
    "sequence": ("sent_bytes", "acked_bytes", "delivered_bytes"),
    "rtt": ("srtt_s", "rtt_s"),
}
"""The columns of a trace that belong to each metric."""


class Records:
    """The summary and the tables of one run, from any source; figures and reports are made from them.

    :class:`lightlag.Result` has both.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._tables: dict[str, pl.DataFrame] = {}

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The run, its flows and its links, with the keys of ``lightlag run --json``."""
        return self.source.summary()

    @property
    def parts(self) -> dict[str, Any]:
        """As :attr:`summary`, with lists of flows and links that read their entries when they are needed.

        All entries of a large network together could fill the memory.
        """
        return self.source.parts()

    @cached_property
    def _head(self) -> dict[str, Any]:
        return self.source.head()

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return str(self._head["scenario"]["name"])

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as run, with every default."""
        return self.source.scenario()

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self._head["seed"])

    @property
    def version(self) -> str:
        """The version of lightlag that made the run."""
        return str(self._head["version"])

    @property
    def origin(self) -> dict[str, Any]:
        """Origin of the run: versions, commit, platform and command; empty if an older version computed the run."""
        return self.source.origin()

    @property
    def directory(self) -> Path | None:
        """The results directory that the run was read from; None for a run that was just made."""
        return self.source.directory

    @property
    def simulated_s(self) -> float:
        """Simulated seconds until the run ended."""
        return float(self._head["simulated_s"])

    @property
    def wall_s(self) -> float:
        """Wall-clock seconds that the run took."""
        return float(self._head["wall_s"])

    @property
    def result_hash(self) -> str:
        """Hash of every recorded number: equal for the same scenario, seed and version, on any machine."""
        return str(self._head["result_hash"])

    @property
    def interrupted(self) -> bool:
        """Whether the run was ended early; its results then depend on when that happened."""
        return self.source.interrupted

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow: goodput, finish, segments, timeouts, round-trip times and limits."""
        return self.table("flows")

    @property
    def links(self) -> pl.DataFrame:
        """One row per link direction: bytes carried, utilisation, drops and queue."""
        return self.table("links")

    @property
    def queue(self) -> pl.DataFrame:
        """The queue of each link direction over time."""
        return self.table("queue")

    @property
    def drops(self) -> pl.DataFrame:
        """Every dropped packet: time, link, flow and cause."""
        return self.table("drops")

    @property
    def captures(self) -> dict[str, Path]:
        """The captures of the run (``record.pcap``), by the name of their location.

        Before :meth:`save` they are temporary files, which are deleted with this object.
        """
        return {path.stem: path for path in self.source.captures()}

    @property
    def acks(self) -> pl.DataFrame:
        """Each ACK that a sender processed, with the state of the sender after it; for runs with ``acks = true`` in
        ``[record]``.

        One row per ACK: ``time_s``, ``flow``, ``snd_una``, ``snd_nxt``, ``cwnd_bytes``, ``ssthresh_bytes`` (null while
        unlimited), ``srtt_s``, ``inflight_bytes`` and ``state``: open, disorder, recovery or loss.
        """
        if not self.scenario.get("record", {}).get("acks"):
            raise InputError("no ACKs were recorded; run with --acks, or with acks = true under [record]")
        return self.table("acks")

    @property
    def responses(self) -> pl.DataFrame:
        """Responses to requests, and web pages, one row each; for scenarios with requests or web traffic.

        The columns are ``time_s`` of the request, ``flow``, ``duration_s`` until the last byte arrived,
        ``first_byte_s``, ``byte_index_s`` and ``bytes``.
        """
        if not any("responses" in flow or "pages" in flow for flow in self.parts["flows"]):
            raise InputError('no flow has requests; write traffic = { kind = "requests", response = "10 kB" }')
        return self.table("responses")

    @property
    def objects(self) -> pl.DataFrame:
        """Objects of web pages, one row each in the order of their arrival; for scenarios with pages from files.

        The columns are ``time_s``, when the browser could request the object, ``flow``, ``page``, ``object``,
        ``connection``, ``start_s`` of the request, ``first_byte_s``, ``end_s`` and ``bytes``; in runs with a proxy that
        prefetches, also ``prefetched``.
        """
        from lightlag.records.page_load import has_pages

        if not any("pages" in flow for flow in self.parts["flows"]):
            raise InputError('no flow loads a page; write traffic = { kind = "page", file = "page.json" }')
        if not has_pages(self):
            raise InputError(
                "only pages from files have rows of their objects; write traffic = "
                '{ kind = "page", file = "page.json" } instead of kind = "web", or read responses'
            )
        return self.table("objects")

    @property
    def proxies(self) -> pl.DataFrame:
        """One row for each flow at each proxy, in the order of the flows and of the hops; for scenarios with proxies.

        The columns are the payload acknowledged to the sender, acknowledged by the next hop, and lost in a crash; the
        occupancy of the buffer; and the counters of the connection toward the receiver.
        """
        if not self._head["scenario"].get("proxies"):
            raise InputError("no proxy splits a flow; write [[proxies]] with node and buffer")
        return self.table("proxies")

    @property
    def legs(self) -> pl.DataFrame:
        """One row per connection on the path of a flow through proxies, in the order of the flows and of the hops.

        The columns are those about a sender in :attr:`flows`, for the sender of each leg. In :attr:`flows`, they
        describe the first leg.
        """
        if not self._head["scenario"].get("proxies"):
            raise InputError("no proxy splits a flow; write [[proxies]] with node and buffer")
        return self.table("legs")

    @property
    def tunnels(self) -> pl.DataFrame:
        """One row for each direction of each tunnel, the one from the client first; for scenarios with tunnels.

        The columns are the packets that entered, left, were lost, and were dropped, by reason; and those about a sender
        in :attr:`flows`, for the sender of the tunnel's connection.
        """
        if not self._head["scenario"].get("tunnels"):
            raise InputError("no tunnel carries packets; write [[tunnels]] with between")
        return self.table("tunnels")

    @property
    def interfaces(self) -> pl.DataFrame:
        """One row for each interface of a node to a medium.

        The columns are its frames, retries, collisions, airtime and drops, and the routing of its node.
        """
        return self._on_air("interfaces")

    @property
    def paths(self) -> pl.DataFrame:
        """The paths of flows over media or a constellation: one row per node on a path, at each change of the path.

        While there is no path over the constellation, there is one row with the first station, and ``hops`` is 0.

        Examples
        --------
        The hops of each flow over time:

        >>> import lightlag as ll
        >>> from lightlag.scenario import Swarm
        >>> net = ll.Network("swarm", topology=Swarm(nodes=4, area=("40 m", "40 m", "10 m"), flows=1))
        >>> paths = ll.run(net, duration="5 s").paths
        >>> paths.filter(hop=0).select("flow", "hops", "node").rows()[-1][1]
        1
        """
        if self._head["scenario"].get("constellation"):
            return self.table("paths")
        return self._on_air("paths")

    @property
    def positions(self) -> pl.DataFrame:
        """The positions of nodes with radios, at intervals of ``record.positions``, by default 1 s."""
        return self._on_air("positions")

    def _on_air(self, name: TableName) -> pl.DataFrame:
        if not self.parts.get("interfaces"):
            raise InputError('no node has a radio; write a topology of kind = "swarm", or [[media]] and [[nodes]]')
        return self.table(name)

    def trace(self, metric: Metric | None = None) -> pl.DataFrame:
        """Returns the state of every sender over time; with a metric, only the columns that belong to it.

        With proxies, the column ``leg`` is the index of the sender among the flow's connections, counted from 1.

        Parameters
        ----------
        metric
            ``"cwnd"``, ``"goodput"``, ``"sequence"`` or ``"rtt"``; by default every column.
        """
        if metric is None:
            return self.table("trace")
        if metric not in METRICS:
            raise InputError(f'no trace of "{metric}"; there are {", ".join(METRICS)}')
        trace = self.table("trace")
        legs = ["leg"] if "leg" in trace.columns else []
        return trace.select("time_s", "flow", *legs, *METRICS[metric])

    @property
    def repeat(self) -> str | None:
        """The command that repeats the run in its results directory; None if a program is needed."""
        return self.source.repeat()

    if not TYPE_CHECKING:  # for a checker of types every other name would be an attribute

        def __getattr__(self, name: str) -> NoReturn:
            if message := renamed(f"Result.{name}"):
                raise AttributeError(message, name=name, obj=self)
            hint = "; its name is interfaces" if name == "radios" else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=self)

    def table(self, name: TableName) -> pl.DataFrame:
        """Returns a table by name: ``"trace"``, ``"flows"``, or another table that is a property of this class."""
        if str(name) == "radios":
            raise InputError('no table "radios"; its name is "interfaces"')
        if name not in self._tables:
            self._tables[name] = self.source.table(name)
        return self._tables[name]

    def to_pandas(self, name: TableName = "flows") -> pd.DataFrame:
        """Returns a table by name as a data frame of pandas; columns of repeated strings become categories.

        Raises
        ------
        InputError
            If there is no such table, or pandas or pyarrow is missing.
        """
        from lightlag.records.pandas import to_pandas

        return to_pandas(self.table(name))
