"""The outcome of a run: a summary, tables and figures."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lightlag.errors import InputError, ScenarioError
from lightlag.records.rows import flow_rows, link_rows, medium_rows, proxy_rows, radio_rows, shown_flows
from lightlag.records.source import Folder, Source, TableName, Unpacked
from lightlag.text.overview import frame, tables
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from lightlag.constellation.satellites import Sky
    from lightlag.drawing.style import Chart

__all__ = ["METRICS", "Metric", "Result", "TableName", "load"]

Metric = Literal["cwnd", "goodput", "sequence", "rtt", "queue", "swarm", "airtime", "routes", "globe", "handovers"]

METRICS: dict[str, tuple[str, ...]] = {
    "cwnd": ("cwnd_segments", "ssthresh_segments", "w_max_segments", "k_s", "phase"),
    "goodput": ("arrived_bytes", "delivered_bytes"),
    "sequence": ("sent_bytes", "acked_bytes", "delivered_bytes"),
    "rtt": ("srtt_s", "rtt_s"),
}
"""The columns of a trace that belong to a metric."""


class Result:
    """The outcome of one run.

    Made by :func:`lightlag.run` and :func:`lightlag.load`. Tables are polars data frames, read on first use;
    :meth:`to_pandas` gives them as those of pandas. A pickle holds everything: the tables, and the captures.

    Examples
    --------
    >>> import lightlag as ll
    >>> net = ll.Network("example")
    >>> net.link("client", "server", rate="10 Mbit/s", delay="20 ms", queue="1 bdp")
    >>> net.flow("client", "server", transfer="1 MB", congestion="cubic")
    >>> result = ll.run(net, duration="60 s", seed=1)
    >>> result.flows["delivered_bytes"].to_list()
    [1000000]
    >>> result.trace("cwnd").columns[:3]
    ['time_s', 'flow', 'cwnd_segments']
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tables: dict[str, pl.DataFrame] = {}

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The run, its flows and its links, with the keys of ``lightlag run --json``."""
        return self._source.summary()

    @property
    def parts(self) -> dict[str, Any]:
        """As :attr:`summary`, with lists of flows and links that read their entries when they are needed.

        All entries of a large network fill the memory.
        """
        return self._source.parts()

    @cached_property
    def _head(self) -> dict[str, Any]:
        return self._source.head()

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return str(self._head["scenario"]["name"])

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as run, with every default."""
        return self._source.scenario()

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
        """Its origin: versions, commit, platform and command; empty where an older version computed it."""
        return self._source.origin()

    @property
    def folder(self) -> Path | None:
        """The results folder from which it was read; None of a run that was just made."""
        return self._source.folder

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
        """Whether the run was ended early; its results then depend on that moment."""
        return self._source.interrupted

    @property
    def flows(self) -> pl.DataFrame:
        """One row a flow: goodput, finish, segments, timeouts, round-trip times and limits."""
        return self.table("flows")

    @property
    def links(self) -> pl.DataFrame:
        """One row a link direction: bytes carried, utilisation, drops and queue."""
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
        """The captures of the run (``record.pcap``), by the name of their place.

        Before :meth:`save` they are temporary files, which disappear with this result.
        """
        return {path.stem: path for path in self._source.captures()}

    @property
    def acks(self) -> pl.DataFrame:
        """Each ACK that a sender took, with its state after it; for runs with ``acks = true`` in ``[record]``.

        One row an ACK: ``time_s``, ``flow``, ``snd_una``, ``snd_nxt``, ``cwnd_bytes``, ``ssthresh_bytes`` (null while
        it is unlimited), ``srtt_s``, ``inflight_bytes`` and ``state``: open, disorder, recovery or loss.
        """
        if not self.scenario.get("record", {}).get("acks"):
            raise InputError("no ACKs were recorded; run with --acks, or with acks = true under [record]")
        return self.table("acks")

    @property
    def responses(self) -> pl.DataFrame:
        """Each response to a request, and each page: ``time_s`` of the request, ``flow``, ``duration_s`` until
        its last byte arrived, and ``bytes``; for scenarios with requests or web traffic.
        """
        if not any("responses" in flow or "pages" in flow for flow in self.parts["flows"]):
            raise InputError('no flow has requests; write traffic = { kind = "requests", response = "10 kB" }')
        return self.table("responses")

    @property
    def proxies(self) -> pl.DataFrame:
        """One row for each flow at each proxy, in the order of the flows and of the hops; for scenarios with proxies.

        The payload confirmed to the sender's side, acknowledged by the next hop, and lost in a crash; the occupancy of
        the buffer; and the counters of the connection toward the receiver.
        """
        if not self._head["scenario"].get("proxies"):
            raise InputError("no proxy splits a flow; write [[proxies]] with node and buffer")
        return self.table("proxies")

    @property
    def legs(self) -> pl.DataFrame:
        """One row for each connection on the path of a flow through proxies, in the order of the flows and of the hops.

        The columns of a sender in :attr:`flows`, for the sender of each leg; the row of a flow has those of the first.
        """
        if not self._head["scenario"].get("proxies"):
            raise InputError("no proxy splits a flow; write [[proxies]] with node and buffer")
        return self.table("legs")

    @property
    def radios(self) -> pl.DataFrame:
        """One row for each radio: its frames, retries, collisions, airtime, drops, and the routing of its node."""
        return self._on_air("radios")

    @property
    def paths(self) -> pl.DataFrame:
        """The ways of flows over media or through a sky: a row for each node on a way, whenever the way changes.

        While there is no way through the sky, there is a row with the station where it starts, and ``hops`` is 0.

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
        """The positions of nodes with radios, once each ``record.positions``, by default a second."""
        return self._on_air("positions")

    def _on_air(self, name: TableName) -> pl.DataFrame:
        if not self.parts.get("radios"):
            raise InputError('no node has a radio; write a topology of kind = "swarm", or [[media]] and [[nodes]]')
        return self.table(name)

    def trace(self, metric: Metric | None = None) -> pl.DataFrame:
        """The state of every sender over time, or the columns of it that belong to a metric.

        With proxies the column ``leg`` tells which sender of the flow a row is about, from 1 on.

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

    def goodput(self, interval_s: float = 1.0) -> pl.DataFrame:
        """Goodput of every flow over time, in equal intervals: payload as it arrives, each byte once."""
        from lightlag import analyse

        return analyse.goodput(self.trace("goodput"), interval_s, self.simulated_s)

    @property
    def transfers(self) -> pl.DataFrame:
        """Throughput from the first transmission to the last arrival, and the mean delay of the data of each flow.

        See :func:`lightlag.analyse.transfers`. Times are as exact as the trace, ``record.interval``.
        """
        from lightlag import analyse

        if self._head["scenario"]["record"]["trace"] == "off":
            raise InputError('no trace was recorded; run with trace = "change" under [record]')
        return analyse.transfers(self.trace(), self.flows)

    @property
    def repeat(self) -> str | None:
        """The command that repeats the run in the folder of its results; None where a program is needed."""
        return self._source.repeat()

    def sky(self) -> Sky:
        """The sky through which its flows went.

        Raises
        ------
        InputError
            If the scenario has no constellation.
        ScenarioError
            If the run was read from a folder, and the file with the orbits is no longer there.
        """
        from lightlag.constellation.satellites import Sky

        if (sky := self._source.sky()) is None:
            raise InputError(f"{self.name}: no constellation; write [constellation] and [[stations]]")
        return Sky(sky)

    def table(self, name: TableName) -> pl.DataFrame:
        """A table by name, ``"flows"`` or another one of those that have a property here, and ``"trace"``."""
        if name not in self._tables:
            self._tables[name] = self._source.table(name)
        return self._tables[name]

    def to_pandas(self, name: TableName = "flows") -> pd.DataFrame:
        """A table by name as a data frame of pandas; texts that repeat become categories.

        Raises
        ------
        InputError
            If there is no such table, or pandas or pyarrow is missing.
        """
        from lightlag.records.pandas import to_pandas

        return to_pandas(self.table(name))

    def plot(self, metric: Metric = "cwnd", path: str | os.PathLike[str] | None = None, **options: Any) -> Chart:
        """A figure of a metric; see :mod:`lightlag.plot` for the options.

        Parameters
        ----------
        metric
            ``"cwnd"``, ``"goodput"``, ``"sequence"``, ``"rtt"`` or ``"queue"``; with radio media also ``"swarm"``,
            ``"airtime"`` and ``"routes"``, with a constellation ``"globe"`` and ``"handovers"``.
        path
            Where to write the figure; the suffix decides the format (.pdf, .svg, .png, .pgf).
        """
        from lightlag import plot

        draw: Mapping[str, Callable[..., Chart]] = plot.FIGURES
        if not isinstance(metric, str):
            raise InputError(
                f"a figure shows one metric, not {metric!r:.60}; call plot once for each of {', '.join(draw)}"
            )
        if metric not in draw:
            raise InputError(f'no figure of "{metric}"; there are {", ".join(draw)}')
        figure = draw[metric](self, **options)
        if path is not None:
            plot.save(figure, path)
        return figure

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        force: bool = False,
        jobs: int = 1,
        pages: bool = False,
        report: bool = False,
    ) -> Path:
        """Writes a results folder, as a whole or not at all.

        Parameters
        ----------
        folder
            Where; must not exist.
        force
            Replace a results folder that exists.
        jobs
            Threads to write with.
        pages
            With a constellation also ``globe.html``: the ways of the first flows on a globe that plays, with round
            trips, goodput and windows beside it. It is left out if the result is from a folder and the file with the
            orbits is gone. With radios ``swarm.html``: nodes, links and ways that play, of 500 nodes at most.
        report
            Also ``report.html``: why the run was as fast as it was, and its windows, round trips, goodput, queues and
            losses over time.
        """
        made = self._pages() if pages else {}
        if report:
            made["report.html"] = self.report
        self._source.save(Path(folder), force, jobs, made)
        return Path(folder)

    def report(self, folder: str | os.PathLike[str] | None = None) -> str:
        """The report as an HTML page that needs nothing else; with links to the files of a folder if it is named."""
        from lightlag.report.run import FILES, run_page

        there = (
            {} if folder is None else {name: about for name, about in FILES.items() if (Path(folder) / name).exists()}
        )
        return run_page(self, there)

    def _pages(self) -> dict[str, Callable[[Path], str]]:
        if not self.simulated_s:
            return {}
        title = f"{self.name}, seed {self.seed}"
        if self.parts.get("radios"):
            return self._swarm_page(title)
        if not self._head["scenario"].get("constellation"):
            return {}
        from lightlag.constellation import player as constellation_player

        try:
            sky = self.sky()
        except ScenarioError:
            return {}
        return {"globe.html": lambda _: constellation_player.page(sky, title=title, result=self)}

    def _swarm_page(self, title: str) -> dict[str, Callable[[Path], str]]:
        from lightlag.swarm import paths as swarm_paths
        from lightlag.swarm import player as swarm_player

        positions = self.positions
        if positions.is_empty() or (count := positions["node"].n_unique()) > swarm_player.MOST_NODES:
            return {}
        every_s, radio = swarm_player.fitting(count, self.simulated_s), swarm_paths.radio_of(self.scenario)
        text = swarm_player.page(positions, title=title, every_s=every_s, radio=radio, paths=self.paths)
        return {"swarm.html": lambda _: text}

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpacked, (self._source.packed(),)

    def __repr__(self) -> str:
        from lightlag.analyse import together

        flows = self.parts["flows"]
        total = together(flows, self.simulated_s)
        end = ", interrupted" if self.interrupted else ""
        return (
            f"<Result {self.name!r}: {len(flows)} flow{'s' * (len(flows) != 1)}, {self.simulated_s:.6g} s simulated, "
            f"{total / 1e6:.4g} Mbit/s, seed {self.seed}{end}>"
        )

    def _repr_html_(self) -> str:
        head = (
            f"<b>{html.escape(printable(self.name))}</b> · seed {self.seed} · {self.simulated_s:.6g} s simulated in "
            f"{self.wall_s:.3g} s · <code>{self.result_hash[:12]}</code>{' · interrupted' * self.interrupted}"
        )
        rows = (flow_rows, link_rows, proxy_rows, medium_rows, radio_rows)
        nouns = ("flow", "link direction", "flow at proxies", "medium", "radio")
        hidden = [len(self.parts["flows"]) - len(shown_flows(self.parts))]
        return frame(head, *tables([of(self.parts) for of in rows], nouns, hidden))


def _unpacked(files: Mapping[str, bytes]) -> Result:
    return Result(Unpacked(files))


def load(folder: str | os.PathLike[str]) -> Result:
    """Reads a results folder."""
    return Result(Folder(Path(folder)))
