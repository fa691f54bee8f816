"""The outcome of a run: a summary, tables and figures."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag._renamed import former_keywords
from lightlag.errors import InputError, ScenarioError
from lightlag.records.records import Metric, Records
from lightlag.records.rows import flow_rows, link_rows, medium_rows, proxy_rows, radio_rows, shown_flows
from lightlag.records.source import Folder, Unpacked
from lightlag.text.overview import frame, tables
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import polars as pl

    from lightlag.constellation.satellites import Sky
    from lightlag.drawing.style import Chart
    from lightlag.plot.listing import Plots
    from lightlag.report.run import Causes

__all__ = ["Result", "load"]


class Result(Records):
    """The outcome of one run.

    Made by :func:`lightlag.run` and :func:`lightlag.load`. Tables are polars data frames, read on first use;
    :meth:`to_pandas` converts them to pandas. A pickle holds everything: the tables, and the captures.

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

    def goodput(self, interval_s: float = 1.0) -> pl.DataFrame:
        """Returns the goodput of every flow over time, in equal intervals.

        Payload counts when it arrives, each byte once.
        """
        from lightlag import analyse

        return analyse.goodput(self.trace("goodput"), interval_s, self.simulated_s)

    @property
    def transfers(self) -> pl.DataFrame:
        """Throughput of each flow from its first transmission to its last arrival, and the mean delay of its data.

        See :func:`lightlag.analyse.transfers`. Times are as precise as the interval of the trace, ``record.interval``.
        """
        from lightlag import analyse

        if self._head["scenario"]["record"]["trace"] == "off":
            raise InputError('no trace was recorded; run with trace = "change" under [record]')
        return analyse.transfers(self.trace(), self.flows)

    def sky(self) -> Sky:
        """Returns the constellation that carried the flows of the run.

        Raises
        ------
        InputError
            If the scenario has no constellation.
        ScenarioError
            If the run was read from a directory, and the file with the orbits is no longer there.
        """
        from lightlag.constellation.satellites import sky_of

        return sky_of(self)

    def plots(self) -> Plots:
        """Returns the figures that this run has: names, units, and a sentence about each."""
        from lightlag.plot import listing

        return listing.of_run(self)

    def plot(
        self,
        metric: Metric = "cwnd",
        path: str | os.PathLike[str] | None = None,
        *,
        labels: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Chart:
        """Returns a figure of a metric; see :mod:`lightlag.plot` for the options, and :meth:`plots` for the metrics.

        Parameters
        ----------
        metric
            ``"cwnd"``, ``"goodput"``, ``"sequence"``, ``"rtt"`` or ``"queue"``; with radio media also ``"swarm"``,
            ``"airtime"`` and ``"routes"``, with a constellation ``"globe"`` and ``"handovers"``, with pages from files
            ``"waterfall"``.
        path
            Where to write the figure; the suffix decides the format (.pdf, .svg, .png, .pgf).
        labels
            Names in the figure to replace, such as ``{"client->server": "download"}``.
        """
        from lightlag import plot
        from lightlag.drawing import names

        draw: Mapping[str, Callable[..., Chart]] = plot.FIGURES
        if not isinstance(metric, str):
            raise InputError(
                f"a figure shows one metric, not {metric!r:.60}; call plot once for each of {', '.join(draw)}"
            )
        if metric not in draw:
            raise InputError(f'no figure of "{metric}"; there are {", ".join(draw)}')
        with names.within(labels):
            figure = draw[metric](self, **options)
        if path is not None:
            plot.save(figure, path)
        return figure

    @former_keywords("Result.save")
    def save(
        self,
        directory: str | os.PathLike[str],
        *,
        force: bool = False,
        jobs: int = 1,
        pages: bool = False,
        report: bool = False,
    ) -> Path:
        """Writes a results directory, as a whole or not at all.

        Parameters
        ----------
        directory
            The new directory.
        force
            Replace a results directory that exists.
        jobs
            Number of threads that write files.
        pages
            With a constellation, also write ``globe.html``: an animated globe with the paths of the first flows, and
            their round trips, goodput and windows. It is left out if the result is from a directory and the file with
            the orbits is gone. With radios, also write ``swarm.html``: an animation of nodes, links and paths, for up
            to 500 nodes.
        report
            Also write ``report.html``: the causes that limited the run, and its windows, round trips, goodput, queues
            and losses over time.
        """
        made = self._pages() if pages else {}
        if report:
            made["report.html"] = self.report
        self.source.save(Path(directory), force, jobs, made)
        return Path(directory)

    def qlog(
        self,
        path: str | os.PathLike[str],
        *,
        flows: str | Iterable[str] | None = None,
        force: bool = False,
    ) -> list[Path]:
        """Writes logs of the TCP and QUIC flows in qlog 0.3, as JSON text sequences for qvis. Returns the files.

        The run needs captures of both endpoints of its flows, with comments: ``lightlag.run(..., qlog=path)`` and
        ``lightlag run --qlog`` record them.

        Parameters
        ----------
        path
            A directory for two files per flow: ``NAME.sqlog`` of its sender, and ``NAME-receiver.sqlog``. Or a file
            ``*.sqlog`` for the sender of the only flow.
        flows
            Names of the flows. Defaults to all that were captured.
        force
            Replace files that lightlag did not write.

        Raises
        ------
        InputError
            If the captures are missing, a flow does not exist, or several flows have only one file.

        Examples
        --------
        >>> import tempfile
        >>> import lightlag as ll
        >>> net = ll.Network("pair", record=ll.Record(pcap=ll.Pcap(comments=True)))
        >>> net.link("a", "b", rate="1 Mbit/s", delay="10 ms")
        >>> net.flow("a", "b", transfer="100 kB")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [file.name for file in ll.run(net, duration="30 s").qlog(folder)]
        ['a-to-b-receiver.sqlog', 'a-to-b.sqlog']
        """
        from lightlag import qlog

        names = [flows] if isinstance(flows, str) else flows
        return qlog.write(self, path, flows=names, force=force)

    @former_keywords("Result.report")
    def report(self, directory: str | os.PathLike[str] | None = None, *, causes: Causes | None = None) -> str:
        """Returns the report as a self-contained HTML page.

        Parameters
        ----------
        directory
            A directory; the page links to the files of the result in it.
        causes
            The measured causes, from :func:`lightlag.why`.
        """
        from lightlag.report.run import FILES, run_page

        there = (
            {}
            if directory is None
            else {name: about for name, about in FILES.items() if (Path(directory) / name).exists()}
        )
        return run_page(self, there, causes)

    def _pages(self) -> dict[str, Callable[[Path], str]]:
        if not self.simulated_s:
            return {}
        title = f"{self.name}, seed {self.seed}"
        if self.parts.get("interfaces"):
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
        return _unpacked, (self.source.packed(),)

    def __repr__(self) -> str:
        from lightlag.analyse import aggregate_goodput

        flows = self.parts["flows"]
        total = aggregate_goodput(flows, self.simulated_s)
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


def load(directory: str | os.PathLike[str]) -> Result:
    """Reads a results directory."""
    return Result(Folder(Path(directory)))
