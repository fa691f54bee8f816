"""What a run left: a summary, tables and figures, in memory or in a results folder."""

from __future__ import annotations

import html
import json
import math
import os
import shutil
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, get_args

from lightlag import _engine
from lightlag._text import printable
from lightlag.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from lightlag.style import Chart

__all__ = ["METRICS", "Metric", "Result", "TableName", "load"]

Metric = Literal["cwnd", "goodput", "sequence", "rtt", "queue"]
TableName = Literal["flows", "links", "trace", "queue", "drops", "acks", "responses", "proxies", "legs"]

METRICS: dict[str, tuple[str, ...]] = {
    "cwnd": ("cwnd_segments", "ssthresh_segments", "w_max_segments", "k_s", "phase"),
    "goodput": ("arrived_bytes", "delivered_bytes"),
    "sequence": ("sent_bytes", "acked_bytes", "delivered_bytes"),
    "rtt": ("srtt_s", "rtt_s"),
}
"""The columns of a trace that belong to a metric."""

_LIMITS = ("cwnd", "rwnd", "application", "pacing", "recovery", "timeout")
_PAGE_KEYS = ("count", "mean_s", "p95_s", "request_bytes")
_OPTIONAL = {
    "messages": ("sent", "lost", "dropped", "delivered", "mean_delay_s", "p95_delay_s"),
    "datagrams": ("received", "lost", "mean_delay_s", "p95_delay_s"),
    "signals": ("sent", "received", "ignored", "lost", "local"),
    "responses": _PAGE_KEYS,
    "pages": _PAGE_KEYS,
    "holes": ("count", "bytes", "given_up_bytes"),
}
"""What only some flows have. In tables these are columns of their own, null where there is no such thing."""
_SHOWN = 20
_SHOWN_LINKS = 8


class _Source(Protocol):
    """Where a result comes from: the engine or a folder."""

    def summary(self) -> dict[str, Any]: ...
    def head(self) -> dict[str, Any]: ...
    def table(self, name: str) -> pl.DataFrame: ...
    def captures(self) -> list[Path]: ...
    def save(self, folder: Path, force: bool, jobs: int) -> None: ...


class Result:
    """The outcome of one run.

    Made by :func:`lightlag.run` and :func:`lightlag.load`. Tables are polars data frames, read on first use; with
    pandas and pyarrow installed ``result.flows.to_pandas()`` turns one into its pandas counterpart.

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

    def __init__(self, source: _Source) -> None:
        self._source = source
        self._tables: dict[str, pl.DataFrame] = {}

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The run, its flows and its links, with the keys of ``lightlag run --json``."""
        return self._source.summary()

    @cached_property
    def _head(self) -> dict[str, Any]:
        return self._source.head()

    @property
    def name(self) -> str:
        """The name of the scenario."""
        return str(self.scenario["name"])

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario as run, with every default."""
        return cast("dict[str, Any]", self._head["scenario"])

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self._head["seed"])

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
        """Whether the run was ended early; it then depends on the moment."""
        return bool(self._head["interrupted"])

    @property
    def flows(self) -> pl.DataFrame:
        """One row a flow: goodput, finish, segments, timeouts, round-trip times and what limited it."""
        return self.table("flows")

    @property
    def links(self) -> pl.DataFrame:
        """One row a link direction: bytes carried, utilisation, drops and queue."""
        return self.table("links")

    @property
    def queue(self) -> pl.DataFrame:
        """What waited at each link direction over time."""
        return self.table("queue")

    @property
    def drops(self) -> pl.DataFrame:
        """Every dropped packet: when, where, whose and why."""
        return self.table("drops")

    @property
    def captures(self) -> dict[str, Path]:
        """The captures that the scenario asked for (``record.pcap``), by the name of their place.

        Before :meth:`save` they are temporary files, which go when this result does.
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
        """Each response to a request, and each page: ``time_s`` when it was asked for, ``flow``, ``duration_s`` until
        its last byte was there, and ``bytes``; for scenarios with requests or web traffic.
        """
        if not any("responses" in flow or "pages" in flow for flow in self.summary["flows"]):
            raise InputError('nobody asks for anything; write traffic = { kind = "requests", response = "10 kB" }')
        return self.table("responses")

    @property
    def proxies(self) -> pl.DataFrame:
        """One row for each flow at each proxy, in the order of the flows and of the hops; for scenarios with proxies.

        The payload that was confirmed to the side of the sender, acknowledged by the next hop, and lost in a crash;
        what was in the buffer; and the counters of the connection toward the receiver.
        """
        if not self.scenario.get("proxies"):
            raise InputError("no proxy splits a flow; write [[proxies]] with node and buffer")
        return self.table("proxies")

    @property
    def legs(self) -> pl.DataFrame:
        """One row for each connection on the way of a flow through proxies, in the order of the flows and of the hops.

        What :attr:`flows` says of a sender, of the sender of each leg; a flow's own row says it of its first leg.
        """
        if not self.scenario.get("proxies"):
            raise InputError("no proxy splits a flow; write [[proxies]] with node and buffer")
        return self.table("legs")

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

    def table(self, name: TableName) -> pl.DataFrame:
        """A table by name: flows, links, trace, queue, drops, acks, responses, proxies or legs."""
        if name not in self._tables:
            self._tables[name] = self._source.table(name)
        return self._tables[name]

    def plot(self, metric: Metric = "cwnd", path: str | os.PathLike[str] | None = None, **options: Any) -> Chart:
        """A figure of a metric; see :mod:`lightlag.plot` for the options.

        Parameters
        ----------
        metric
            ``"cwnd"``, ``"goodput"``, ``"sequence"``, ``"rtt"`` or ``"queue"``.
        path
            Where to write the figure; the suffix decides the format (.pdf, .svg, .png).
        """
        from lightlag import plot

        draw: Mapping[str, Callable[..., Chart]] = plot.FIGURES
        if metric not in draw:
            raise InputError(f'no figure of "{metric}"; there are {", ".join(draw)}')
        figure = draw[metric](self, **options)
        if path is not None:
            plot.save(figure, path)
        return figure

    def save(self, folder: str | os.PathLike[str], *, force: bool = False, jobs: int = 1) -> Path:
        """Writes a results folder, as a whole or not at all.

        Parameters
        ----------
        folder
            Where; must not exist.
        force
            Replace a results folder that exists.
        jobs
            Threads to write with.
        """
        self._source.save(Path(folder), force, jobs)
        return Path(folder)

    def __repr__(self) -> str:
        from lightlag.analyse import together

        flows = self.summary["flows"]
        total = together(flows, self.simulated_s)
        end = ", interrupted" if self.interrupted else ""
        return (
            f"<Result {self.name!r}: {len(flows)} flow{'s' * (len(flows) != 1)}, {self.simulated_s:.6g} s simulated, "
            f"{total / 1e6:.4g} Mbit/s, seed {self.seed}{end}>"
        )

    def _repr_html_(self) -> str:
        head = (
            f"<b>{html.escape(self.name)}</b> · seed {self.seed} · {self.simulated_s:.6g} s simulated in "
            f"{self.wall_s:.3g} s · <code>{self.result_hash[:12]}</code>{' · interrupted' * self.interrupted}"
        )
        tables = (flow_rows(self.summary), link_rows(self.summary), proxy_rows(self.summary))
        return head + "".join(html_table(rows) for rows in tables if rows)


def load(folder: str | os.PathLike[str]) -> Result:
    """Reads a results folder."""
    return Result(_Folder(Path(folder)))


class _Live:
    """A run that is still in the engine's memory."""

    def __init__(self, run: _engine.Run, captures: Path | None = None) -> None:
        """`captures` is the temporary folder to which the run wrote its captures; it goes with this object."""
        self._run = run
        self._captures = captures
        if captures is not None:
            weakref.finalize(self, shutil.rmtree, captures, ignore_errors=True)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads(self._run.summary()))

    def summary(self) -> dict[str, Any]:
        return self._summary

    def head(self) -> dict[str, Any]:
        return self._summary | {"interrupted": self._run.interrupted}

    def table(self, name: str) -> pl.DataFrame:
        import polars as pl

        try:
            return pl.DataFrame(self._run.table(name))
        except KeyError as error:
            raise InputError(str(error.args[0])) from None

    def captures(self) -> list[Path]:
        return [] if self._captures is None else [self._captures / name for name in self._run.captures]

    def save(self, folder: Path, force: bool, jobs: int) -> None:
        from lightlag._writing import new_folder

        with new_folder(folder, force=force) as partial:
            self._run.write(partial, folder, jobs, self._captures)
        if failure := self._run.capture_failure:
            raise OSError(f"{folder}/captures/{failure}; captures hold what came before, everything else is complete")


class _Folder:
    """A results folder on disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        shown = printable(folder)
        try:
            head: Any = json.loads((folder / "run.json").read_text("utf-8"))
        except FileNotFoundError:
            raise InputError(f'{shown}: is not a results folder (no run.json); write one with "lightlag run"') from None
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"{printable(folder / 'run.json')}: cannot be read: {printable(error)}") from None
        if not isinstance(head, dict) or "result_hash" not in head:
            raise InputError(
                f"{shown}: does not hold a single run; name a folder that lightlag run wrote, or load_comparison"
            )
        for key, fits in _HEAD.items():
            if not fits(head.get(key)):
                raise InputError(
                    f"{printable(folder / 'run.json')}: {key}: {head.get(key)!r:.60} is not what a run writes there; "
                    'repeat it with "lightlag run"'
                )
        self._head: dict[str, Any] = head

    def head(self) -> dict[str, Any]:
        return self._head

    def summary(self) -> dict[str, Any]:
        summary = {key: value for key, value in self._head.items() if key not in ("interrupted", "files")}
        flows = self.table("flows").to_dicts()
        for flow in flows:
            _fold_limits(flow)
            for group, (count, *others) in _OPTIONAL.items():
                parts = {key: flow.pop(f"{group}_{key}", None) for key in (count, *others)}
                if parts[count] is not None:
                    flow[group] = parts
            if flow["failure"] is None:
                del flow["failure"]
        summary |= {"flows": flows, "links": self.table("links").to_dicts()}
        if (self._folder / "proxies.parquet").exists():
            failures = ("client_failure", "server_failure")
            summary["proxies"] = [
                {key: value for key, value in proxy.items() if key not in failures or value is not None}
                for proxy in self.table("proxies").to_dicts()
            ]
            summary["legs"] = self.table("legs").to_dicts()
            for leg in summary["legs"]:
                _fold_limits(leg)
        return summary

    def table(self, name: str) -> pl.DataFrame:
        import polars as pl

        if name not in _columns():
            raise InputError(f'no table "{printable(name)}"; there are {", ".join(_columns())}')
        path = self._folder / f"{name}.parquet"
        try:
            table = pl.read_parquet(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{printable(path)}: cannot be read: {printable(error)}") from None
        for column, kind in _columns()[name].items():
            problem = None
            if column not in table.columns:
                problem = "is missing"
            elif table[column].dtype != kind:
                problem = f"has {table[column].dtype} instead of {kind}"
            elif kind.is_float() and not (table[column].is_finite() | table[column].is_null()).all():
                problem = "holds something that is not a finite number"
            if problem:
                raise InputError(
                    f"{printable(path)}: is not what a run of this version writes: {column} {problem}; repeat it with "
                    '"lightlag run"'
                )
        return table

    def captures(self) -> list[Path]:
        return sorted((self._folder / "captures").glob("*.pcapng"))

    def save(self, folder: Path, force: bool, jobs: int) -> None:
        from lightlag._writing import new_folder

        with new_folder(folder, force=force) as partial:
            shutil.copytree(self._folder, partial, dirs_exist_ok=True)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


_HEAD: dict[str, Callable[[Any], bool]] = {
    "scenario": lambda value: (
        isinstance(value, dict)
        and isinstance(value.get("name"), str)
        and isinstance(value.get("duration"), str)
        and isinstance(value.get("record"), dict)
    ),
    "seed": lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    "version": lambda value: isinstance(value, str),
    "simulated_s": _is_number,
    "wall_s": _is_number,
    "packet_hops": _is_number,
    "result_hash": lambda value: isinstance(value, str),
    "interrupted": lambda value: isinstance(value, bool),
}
"""What `run.json` says of a run."""


@cache
def _columns() -> dict[str, dict[str, pl.DataType]]:
    """The tables of a run with the columns that all of them have, as this version writes them."""
    import polars as pl

    line = {"rate": "1 Mbit/s", "delay": "1 ms"}
    plain: dict[str, Any] = {
        "duration": "1 s",
        "links": [line | {"between": ["a", "b"]}, line | {"between": ["b", "c"]}],
        "flows": [{"name": "one way", "from": "a", "to": "c", "transfer": "1 B"}],
        "record": {"acks": True},
    }
    asks = {"from": "a", "to": "c", "traffic": {"kind": "requests", "request": "1 B", "response": "1 B"}}
    proxy = {"node": "b", "buffer": "1 kB", "flows": ["one way"]}
    rich = plain | {"flows": [*plain["flows"], asks], "proxies": [proxy]}
    found: dict[str, dict[str, pl.DataType]] = {}
    for scenario in (plain, rich):
        run = _engine.run(json.dumps(scenario))
        for name in get_args(TableName):
            # Some tables are there only where they have something to say.
            with suppress(KeyError):
                found.setdefault(name, dict(pl.DataFrame(run.table(name)).schema))
    return found


def _fold_limits(row: dict[str, Any]) -> None:
    """The columns of limits as one object."""
    row["limited_s"] = {limit: row.pop(f"limited_{limit}_s") for limit in _LIMITS}


Row = dict[str, str]


def flow_rows(summary: dict[str, Any]) -> list[Row]:
    """The flows of a summary as text, for people: at most the first 20, each with a row for every leg if it has any."""
    legs = legs_of(summary)
    shown = [part for flow in summary["flows"][:_SHOWN] for part in (flow, *legs.get(flow["name"], []))]
    has_datagrams = any("datagrams" in flow for flow in shown)
    has_pages = any("responses" in flow or "pages" in flow for flow in shown)
    has_signals = any("signals" in flow for flow in shown)
    return [
        (_flow_row(flow) if "leg" in flow or flow["name"] not in legs else _split_flow_row(flow))
        | (_datagram_cells(flow) if has_datagrams else {})
        | (_page_cells(flow) if has_pages else {})
        | (_signal_cells(flow) if has_signals else {})
        for flow in shown
    ]


def _flow_row(flow: dict[str, Any]) -> Row:
    """A flow as text. Datagrams are not sent again, and nothing comes back."""
    connection = "datagrams" not in flow
    return {
        "flow": f"  {leg_name(flow)}" if "leg" in flow else flow["name"],
        "congestion": flow["congestion"],
        "goodput": rate(flow["goodput_bps"]),
        "finished": "–" if flow["finish_s"] is None else f"{flow['finish_s']:.4g} s",
        "resent": share(flow["retransmitted_segments"], flow["sent_segments"]) if connection else "–",
        "timeouts": str(flow["timeouts"]) if connection else "–",
        "mean RTT": _milliseconds(flow["mean_rtt_s"]),
        "mean cwnd": f"{flow['mean_cwnd_segments']:.4g}" if connection else "–",
        "limited by": limited_by(flow["limited_s"]) if connection else "–",
    }


def _split_flow_row(flow: dict[str, Any]) -> Row:
    """A flow that proxies split as text: what its senders did stands in the rows of its legs."""
    return dict.fromkeys(_flow_row(flow), "–") | {
        key: value for key, value in _flow_row(flow).items() if key in ("flow", "goodput", "finished")
    }


def legs_of(summary: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The legs of each flow that proxies split, by its name, in the order of the hops."""
    legs: dict[str, list[dict[str, Any]]] = {}
    for leg in summary.get("legs", []):
        legs.setdefault(leg["flow"], []).append(leg)
    return legs


def longest_leg(legs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The leg with the largest round trip: behind a proxy beside a satellite, that of the satellite."""
    return max(legs, key=lambda leg: leg["min_rtt_s"] or 0.0)


def leg_name(leg: Mapping[str, Any]) -> str:
    """The nodes that a leg joins."""
    return f"{leg['from']}->{leg['to']}"


def capacity(summary: Mapping[str, Any]) -> tuple[str, float] | None:
    """Name and rate in bit/s of the link direction that is the slowest on the way of every flow of TCP.

    None if there is no such one, or if its rate changes during the run.
    """
    names = {flow["bottleneck"] for flow in summary["flows"] if flow["bottleneck"] is not None}
    if len(names) != 1:
        return None
    (name,) = names
    rates = [link["rate_bps"] for link in summary["links"] if link["name"] == name]
    return (name, float(rates[0])) if rates and rates[0] is not None else None


def _datagram_cells(flow: dict[str, Any]) -> Row:
    """What became of the datagrams of a flow, or of the messages of a sink, if it has some."""
    if messages := flow.get("messages"):
        return {
            "lost": share(messages["lost"] + messages["dropped"], messages["sent"]),
            "mean delay": _milliseconds(messages["mean_delay_s"]),
            "95 % delay": _milliseconds(messages["p95_delay_s"]),
        }
    datagrams = flow.get("datagrams")
    if datagrams is None:
        return {"lost": "–", "mean delay": "–", "95 % delay": "–"}
    return {
        "lost": share(datagrams["lost"], flow["sent_segments"]),
        "mean delay": _milliseconds(datagrams["mean_delay_s"]),
        "95 % delay": _milliseconds(datagrams["p95_delay_s"]),
    }


def _signal_cells(flow: dict[str, Any]) -> Row:
    """What stations told the ends of a flow, of those that were told through the network or at their own node."""
    signals = flow.get("signals")
    if signals is None:
        return {"signals": "–"}
    told, heeded = signals["sent"] + signals["local"], signals["received"] + signals["local"]
    return {"signals": f"{heeded} of {told} heeded"}


def _page_cells(flow: dict[str, Any]) -> Row:
    """The responses or the pages of a flow, if it has some."""
    pages = flow.get("responses") or flow.get("pages")
    if pages is None:
        return {"responses": "–", "mean time": "–", "95 % time": "–"}
    return {
        "responses": str(pages["count"]),
        "mean time": _milliseconds(pages["mean_s"]),
        "95 % time": _milliseconds(pages["p95_s"]),
    }


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds * 1e3:.4g} ms"


def _dropped(link: dict[str, Any]) -> int:
    """Packets that a link direction dropped, for whatever cause."""
    causes = ("dropped_queue", "dropped_aqm", "dropped_error", "dropped_acks")
    return sum(int(link.get(cause, 0)) for cause in causes)


def link_rows(summary: dict[str, Any]) -> list[Row]:
    """The link directions of a summary as text, for people: those that dropped most or were busiest, at most 8."""
    links = summary["links"]
    by_weight = sorted(
        range(len(links)),
        key=lambda at: (-_dropped(links[at]), -links[at]["utilisation"]),
    )
    shown = sorted(at for at in by_weight[:_SHOWN_LINKS] if links[at]["carried_bytes"])
    # What plain links never have is shown where it is.
    rare = [
        (key, title)
        for key, title in (
            ("dropped_aqm", "dropped (AQM)"),
            ("dropped_acks", "ACKs thinned out"),
            ("marked", "marked"),
            ("duplicated", "duplicated"),
            ("reordered", "reordered"),
        )
        if any(links[at].get(key) for at in shown)
    ]
    return [
        {
            "link": link["name"],
            "utilisation": f"{link['utilisation']:.1%}",
            "carried": size(link["carried_bytes"]),
            "dropped (queue)": str(link["dropped_queue"]),
            "dropped (error)": str(link["dropped_error"]),
            **{title: str(link[key]) for key, title in rare},
            "mean queue": f"{link['mean_queue_packets']:.4g}",
            "max queue": str(link["max_queue_packets"]),
        }
        for link in (links[at] for at in shown)
    ]


def proxy_rows(summary: dict[str, Any]) -> list[Row]:
    """The flows at proxies as text, for people: at most the first 20."""
    return [
        {
            "proxy": proxy["node"],
            "flow": proxy["flow"],
            "congestion": proxy["congestion"],
            "passed on": size(proxy["acknowledged_bytes"]),
            "lost": size(proxy["lost_bytes"]) if proxy["lost_bytes"] else "–",
            "resent": share(proxy["retransmitted_segments"], proxy["sent_segments"]),
            "timeouts": str(proxy["timeouts"]),
            "min RTT": "–" if proxy["min_rtt_s"] is None else f"{proxy['min_rtt_s'] * 1e3:.4g} ms",
            "mean buffer": size(proxy["mean_buffer_bytes"]),
            "max buffer": size(proxy["max_buffer_bytes"]),
        }
        for proxy in summary.get("proxies", [])[:_SHOWN]
    ]


def limited_by(limits: Mapping[str, float]) -> str:
    """The two causes that held a sender back for longest, with their share of its time."""
    total = sum(limits.values())
    if total <= 0:
        return "–"
    first = sorted(limits.items(), key=lambda item: -item[1])[:2]
    return ", ".join(f"{name} {value / total:.0%}" for name, value in first if value / total >= 0.005)


def scaled(value: float, prefixes: str = " kMGT") -> tuple[float, str]:
    """A number below 1000 and its decimal prefix.

    Examples
    --------
    >>> scaled(34_368_000.0)
    (34.368, 'M')
    """
    at = 0
    while abs(value) >= 999.95 and at + 1 < len(prefixes):
        value, at = value / 1000, at + 1
    return value, prefixes[at].strip()


def rate(bits_per_second: float) -> str:
    """A rate for people.

    Examples
    --------
    >>> rate(9_412_345)
    '9.412 Mbit/s'
    """
    value, prefix = scaled(bits_per_second)
    return f"{value:.4g} {prefix}bit/s"


def size(count: float) -> str:
    """A size for people.

    Examples
    --------
    >>> size(20_000_000)
    '20 MB'
    """
    value, prefix = scaled(count)
    return f"{value:.4g} {prefix}B"


def share(part: int, whole: int) -> str:
    """A share in percent, with two digits for small ones.

    Examples
    --------
    >>> share(3, 2000), share(0, 5)
    ('0.15%', '0%')
    """
    if part == 0 or whole == 0:
        return "0%"
    return f"{100 * part / whole:.2g}%"


def html_table(rows: list[Row]) -> str:
    """Rows of text as an HTML table."""
    if not rows:
        return ""
    cells = "".join(f"<th>{html.escape(key)}</th>" for key in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(value)}</td>" for value in row.values()) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
