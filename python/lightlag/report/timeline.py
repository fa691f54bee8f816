"""The charts of a run over one axis of time: windows, round trips, goodput, queues, losses, states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightlag import analyse
from lightlag.outcomes.outcome import UDP
from lightlag.records.summary import legs_of, longest_leg
from lightlag.report.answer import listed
from lightlag.report.charts import Chart, Line, Lines, States, unit_of, usual_top
from lightlag.text.quantities import number

if TYPE_CHECKING:
    import polars as pl

    from lightlag.records.records import Records

__all__ = ["timeline"]

_FLOWS, _LINKS = 8, 4
"""That have lines of their own."""
_POINTS = 24_000
"""Of all lines of a page together, about."""
_BUCKETS = 400
"""Of losses over time."""
_PARTS = 1500
"""States of all flows together."""
_STATES = ("open", "recovery", "loss")
_HINT = "Lines are thinned to the least and greatest value of each short time; the tables have every row."


def timeline(result: Records) -> list[Chart]:
    """The charts of what a run recorded."""
    charts = []
    record = result.scenario["record"]
    axis = {"label": "time (s)", "unit": "s", "min": 0, "max": result.simulated_s or 1.0}
    trace = None if record["trace"] == "off" else _first_flows(result)
    if trace is not None and trace.height:
        flows = trace.partition_by("flow", maintain_order=True)
        most = max(120, min(1200, _POINTS // (4 * len(flows))))
        charts += [_windows(flows, axis, most), _round_trips(flows, axis, most), _goodput(result, flows, axis)]
    if record["queue"] != "off" and (queues := _queues(result, axis)) is not None:
        charts.append(queues)
    if record.get("drops", True) and (losses := _losses(result, axis)) is not None:
        charts.append(losses)
    if trace is not None and trace.height:
        charts.append(_states(flows, axis, result.simulated_s))
    return charts


def _chart(name: str, title: str, caption: str, panel: Lines | States) -> Chart:
    return Chart(name, title, caption, [panel], "time", 60)


def _first_flows(result: Records) -> pl.DataFrame:
    """The trace of the first flows of TCP; where proxies split one, of the sender of its longest leg."""
    import polars as pl

    trace, summary = result.trace(), result.summary
    names = [flow["name"] for flow in summary["flows"] if flow["congestion"] != UDP][:_FLOWS]
    trace = trace.with_columns(pl.col("flow").cast(pl.String)).filter(pl.col("flow").is_in(names))
    if "leg" not in trace.columns:
        return trace
    legs = {name: int(longest_leg(own)["leg"]) for name, own in legs_of(summary).items()}
    chosen = pl.col("flow").replace_strict(legs, default=1, return_dtype=pl.Int64)
    return trace.filter(pl.col("leg").cast(pl.Int64) == chosen)


def _thin(rows: pl.DataFrame, column: str, most: int, factor: float = 1.0) -> tuple[list[float], list[float | None]]:
    kept = analyse.thinned_rows(rows["time_s"], rows[column], most)
    values = rows[column].gather(kept).fill_nan(None).to_list()
    return rows["time_s"].gather(kept).to_list(), [None if value is None else value * factor for value in values]


def _name(rows: pl.DataFrame) -> str:
    return str(rows["flow"][0])


def _windows(flows: Sequence[pl.DataFrame], axis: Mapping[str, Any], most: int) -> Chart:
    lines, said = [], []
    for at, rows in enumerate(flows):
        name = _name(rows)
        times, values = _thin(rows, "cwnd_segments", most)
        alone = len(flows) == 1
        lines.append(Line("cwnd" if alone else name, at, times, values, looks=frozenset({"step", "solid"})))
        if alone and rows["ssthresh_segments"].fill_nan(None).count():
            times, values = _thin(rows, "ssthresh_segments", most)
            lines.append(Line("ssthresh", 1, times, values, looks=frozenset({"step"})))
        known = rows["cwnd_segments"].fill_nan(None).drop_nulls().to_list()
        said.append(f"{name} at most {max(known):,.0f}, {known[-1]:,.0f} at the end")
    top = usual_top([(line.x, line.y) for line in lines if line.name != "ssthresh"])
    highest_ssthresh = max((value or 0.0 for line in lines if line.name == "ssthresh" for value in line.y), default=0.0)
    highest_cwnd = max((value or 0.0 for line in lines if line.name != "ssthresh" for value in line.y), default=0.0)
    if top is None and highest_ssthresh > 1.5 * highest_cwnd:
        top = 1.1 * highest_cwnd
    y = {"min": 0} | ({} if top is None else {"max": top})
    panel = Lines("segments", f"Congestion windows in segments: {listed(said)}.", dict(axis), y, lines)
    about = "and slow-start threshold" if len(flows) == 1 else "of the first flows"
    return _chart("cwnd", "Congestion window", f"Congestion window {about}. {_HINT}", panel)


def _round_trips(flows: Sequence[pl.DataFrame], axis: Mapping[str, Any], most: int) -> Chart:
    lines, said = [], []
    for at, rows in enumerate(flows):
        name, alone = _name(rows), len(flows) == 1
        times, values = _thin(rows, "rtt_s", most, 1e3)
        if alone:
            lines.append(Line("RTT", 5, times, values, looks=frozenset({"step", "solid"})))
            times, values = _thin(rows, "srtt_s", most, 1e3)
            lines.append(Line("SRTT", 0, times, values, looks=frozenset({"step", "solid"})))
        else:
            times, values = _thin(rows, "srtt_s", most, 1e3)
            lines.append(Line(name, at, times, values, looks=frozenset({"step", "solid"})))
        known = rows["rtt_s"].fill_nan(None).drop_nulls()
        if len(known):
            least, largest = (float(one) for one in (known.min(), known.max()))  # type: ignore[arg-type]
            said.append(f"{name} {number(1e3 * least)} to {number(1e3 * largest)} ms")
    says = f"Round trips: {listed(said)}." if said else "No round trip was measured."
    panel = Lines("ms", says, dict(axis), {"min": 0}, lines, empty="no round trip was measured")
    about = "Samples and SRTT" if len(flows) == 1 else "SRTT of the first flows"
    return _chart("rtt", "Round trip", f"{about}, as the sender measured them.", panel)


def _goodput(result: Records, flows: Sequence[pl.DataFrame], axis: Mapping[str, Any]) -> Chart:
    import polars as pl

    width = analyse.bin_width(result.simulated_s)
    names = [_name(rows) for rows in flows]
    trace = result.trace("goodput").with_columns(pl.col("flow").cast(pl.String))
    rates = analyse.goodput(trace.filter(pl.col("flow").is_in(names)), width, result.simulated_s)
    highest = rates["goodput_bps"].max() if rates.height else 0.0
    factor, unit = unit_of(float(highest or 0.0), "bit/s")  # type: ignore[arg-type]
    lines, said = [], []
    for at, name in enumerate(names):
        own = rates.filter(pl.col("flow") == name)["goodput_bps"]
        if not len(own):
            continue
        values = (own / factor).to_list()
        lines.append(Line("goodput" if len(names) == 1 else name, at, (width / 2, width), values))
        said.append(f"{name} at most {number(max(values), 3)} {unit}")
    capacities = {
        link["rate_bps"]
        for flow in result.summary["flows"]
        for link in result.summary["links"]
        if flow["name"] in names and link["name"] == flow["bottleneck"]
    }
    rate = capacities.pop() if len(capacities) == 1 else None
    limits = [] if not rate or rate > 2.5 * float(highest or 0.0) else [("slowest link", rate / factor)]  # type: ignore[arg-type]
    says = f"Goodput over time: {listed(said)}." if said else "The run is shorter than an interval."
    panel = Lines(unit, says, dict(axis), {"min": 0}, lines, limits, "the run is shorter than an interval")
    return _chart("goodput", "Goodput", f"Payload as it arrives, each byte once, in intervals of {width:g} s.", panel)


def _queues(result: Records, axis: Mapping[str, Any]) -> Chart | None:
    import polars as pl

    links = sorted(result.summary["links"], key=lambda link: -link["max_queue_packets"])[:_LINKS]
    names = [link["name"] for link in links if link["max_queue_packets"] > 0]
    if not names:
        return None
    queue = result.queue.with_columns(pl.col("link").cast(pl.String))
    most = max(200, min(1200, _POINTS // (4 * len(names))))
    lines = []
    for at, name in enumerate(names):
        rows = queue.filter(pl.col("link") == name)
        if rows.height:
            times, values = _thin(rows, "packets", most)
            lines.append(Line(name, at, times, values, looks=frozenset({"step", "solid"})))
    said = [
        f"{link['name']} {number(link['mean_queue_packets'], 3)} on average, {link['max_queue_packets']:,} at most"
        for link in links[: len(names)]
    ]
    panel = Lines("packets", f"Packets that wait: {listed(said)}.", dict(axis), {"min": 0}, lines)
    about = "Packets that wait at the links with the longest queues, without the one in transmission."
    return _chart("queue", "Queues", about, panel)


def _losses(result: Records, axis: Mapping[str, Any]) -> Chart | None:
    import polars as pl

    drops = result.drops
    if drops.is_empty():
        return None
    width = result.simulated_s / _BUCKETS
    drops = drops.with_columns(
        (pl.col("link").cast(pl.String) + ", " + pl.col("cause").cast(pl.String)).alias("where"),
        (pl.col("time_s") / width).floor().alias("bucket"),
    )
    order = drops.group_by("where").len().sort("len", "where", descending=[True, False])
    lines, said = [], []
    for at, (where, count) in enumerate(order.head(_FLOWS).iter_rows()):
        counted = drops.filter(pl.col("where") == where).group_by("bucket").len().sort("bucket")
        times = [(bucket + 0.5) * width for bucket in counted["bucket"]]
        lines.append(Line(where, at, times, counted["len"].to_list(), looks=frozenset({"stem", "solid"})))
        said.append(f"{count:,} at {where}")
    says = f"Dropped packets: {listed(said)}."
    panel = Lines(f"packets in {width:.2g} s", says, dict(axis), {"min": 0}, lines, height=150)
    return _chart("losses", "Losses", "Packets that were dropped, by link and cause; ACKs count, too.", panel)


def _states(flows: Sequence[pl.DataFrame], axis: Mapping[str, Any], end_s: float) -> Chart:
    import polars as pl

    rows, said = [], []
    most = max(_PARTS // len(flows), 50)
    for flow in flows:
        phases = flow.with_columns(pl.col("phase").cast(pl.String))
        changes = phases.filter(pl.col("phase").ne_missing(pl.col("phase").shift(1)))
        starts, states = changes["time_s"].to_list(), changes["phase"].to_list()
        ends = [*starts[1:], end_s]
        parts = list(zip(starts, ends, states, strict=True))
        away = sum(end - start for start, end, state in parts if state != "open")
        times = sum(1 for *_, state in parts if state != "open")
        said.append(f"{_name(flow)} repaired losses {times} time{'s' * (times != 1)}, for {number(away, 3)} s")
        rows.append((_name(flow), _joined(parts, most)))
    there = {state for _, parts in rows for *_, state in parts}
    states = [state for state in _STATES if state in there]
    panel = States("", f"States of senders: {listed(said)}.", dict(axis), rows, states)
    about = "What a sender repairs: nothing (open), losses that were reported (recovery), those of a timeout (loss)."
    return _chart("states", "States", about, panel)


def _joined(parts: Sequence[tuple[float, float, str]], most: int) -> list[tuple[float, float, str]]:
    """Fewer parts: the shortest go into the one before them, until there are few enough."""
    kept = list(parts)
    if len(kept) > most:
        shortest = sorted(end - start for start, end, _ in kept)[len(kept) - most]
        joined: list[tuple[float, float, str]] = []
        for start, end, state in kept:
            if joined and (joined[-1][2] == state or (end - start < shortest and state == "open")):
                joined[-1] = (joined[-1][0], end, joined[-1][2])
            else:
                joined.append((start, end, state))
        kept = joined
    return kept
