"""Measurements of lightlag compared with closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import lightlag as ll
from lightlag.validation import theory
from lightlag_papers.epochs import OPEN, WindowTrace
from lightlag_papers.paper import Effort
from lightlag_papers.validation.checks import Check, against
from lightlag_papers.validation.scenarios import Run

FLOW = "client->server"
LOSSES = 2000
"""Number of losses for each point of a response function with random losses."""
SETTLING_CYCLES, MEASURED_CYCLES = 12, 12
"""Number of cycles with periodic losses before the measurement, and during it."""
LEAST_ROUNDS = 10
"""Minimum length of a cycle, in round trips, for a verdict on CUBIC's response function."""


def steady_goodput(result: ll.Result, from_s: float, to_s: float) -> float:
    """Returns the delivery rate of payload between samples of a trace, in bit/s."""
    trace = result.trace("goodput")
    times, delivered = trace["time_s"].to_numpy(), trace["delivered_bytes"].to_numpy()
    first, last = (int(np.searchsorted(times, at, side="right")) - 1 for at in (from_s, to_s))
    return float((delivered[last] - delivered[first]) * 8 / (times[last] - times[first]))


def window_over_rtt() -> list[Check]:
    """Returns checks of the throughput of a flow that is limited by the receive window."""
    checks = []
    for kibibytes, delay_ms in ((64, 300), (128, 50), (1024, 125)):
        sets = {"defaults.tcp.receive_buffer": f"{kibibytes} KiB", "links.0.delay": f"{delay_ms} ms"}
        run = Run("window", sets)
        # 48 s are a whole number of round trips, each of which carries one window in one burst.
        rtt = 2 * delay_ms * 1e-3 + (1064 + 40) * 8 / 1e9
        ours = steady_goodput(run.result(), 6, 54) / 1e6
        checks.append(
            against(
                "throughput = window / RTT",
                f"{kibibytes} KiB, {2 * delay_ms} ms",
                run.command,
                ours,
                kibibytes * 1024 * 8 / rtt / 1e6,
                unit="Mbit/s",
                tolerance=0.005,
            )
        )
    return checks


def payload_share() -> list[Check]:
    """Returns checks of the goodput of a flow that fills a lossless link."""
    checks = []
    for timestamps, header, payload, frame in ((True, 0, 1448, 1500), (False, 0, 1460, 1500), (True, 38, 1448, 1538)):
        sets = {"defaults.tcp.timestamps": str(timestamps).lower(), "links.0.header": f"{header} B"}
        run = Run("link", sets)
        ours = steady_goodput(run.result(), 20, 60) / 1e6
        checks.append(
            against(
                "a lossless link is filled to its payload share",
                f"10 Mbit/s, {payload} of {frame} B",
                run.command,
                ours,
                10 * payload / frame,
                unit="Mbit/s",
                tolerance=0.001,
            )
        )
    return checks


def growth() -> list[Check]:
    """Returns checks of NewReno's growth per round trip, in slow start and in congestion avoidance."""
    checks = []
    every = {"defaults.tcp.delayed_ack": "false", "defaults.tcp.growth": "per_segment"}
    second = {
        "defaults.tcp.delayed_ack": '{ segments = 2, timeout = "200 ms" }',
        "defaults.tcp.growth": "per_ack",
        "links.0.loss": '{ forward = { at = ["950 ms"] }, backward = 0 }',
    }
    for point, sets, factor, slope in (
        ("an ACK for every segment", every, 2.0, 1.0),
        ("an ACK for every second segment, one segment an ACK", second, 1.5, 0.5),
    ):
        run = Run("growth", sets)
        trace = WindowTrace.of(run.result().trace("cwnd"), FLOW)
        starting, avoiding = _rates(trace)
        for name, ours, expected, unit in (
            ("slow start: growth per round trip", starting, factor, "×"),
            ("congestion avoidance: growth per round trip", avoiding, slope, "segments"),
        ):
            checks.append(against(name, point, run.command, ours, expected, unit=unit, tolerance=0.02))
    return checks


def _rates(trace: WindowTrace) -> tuple[float, float]:
    """Returns growth per round trip: a factor in slow start, and segments in avoidance; the RTT is 100 ms.

    Slow start is measured from the end of the second round trip to the end of the last complete one before the
    loss, and avoidance over all round trips that start at least 1 s after the end of recovery.
    """
    rtt = 0.1
    repaired = np.flatnonzero(trace.phase != OPEN)
    loss_s, end_s = trace.time_s[repaired[0]], trace.time_s[repaired[-1]]
    rounds = math.floor((loss_s - 0.1) / rtt - 0.5)

    def window(at: float) -> float:
        return float(trace.cwnd[int(np.searchsorted(trace.time_s, at, side="right")) - 1])

    # Round n ends in the middle between two bursts of ACKs, half a round trip after the n-th.
    first, last = (window(0.1 + rtt * (n + 0.5)) for n in (2, rounds))
    at = np.arange(end_s + 1, float(trace.time_s[-1]), rtt)
    slope = np.polynomial.Polynomial.fit(at, [window(float(t)) for t in at], 1).convert().coef[1] * rtt
    return math.pow(last / first, 1 / (rounds - 2)), float(np.real(slope))


def timeouts() -> list[Check]:
    """Returns checks of the retransmission timeout after equal round-trip samples, as seen on the wire."""
    checks = []
    rtt = 0.6
    for samples in range(1, 6):
        # The n-th segment is sent after n round trips, the handshake's included, and is lost; after the first one so is
        # the ACK of the handshake just before it.
        lost_s = samples * rtt
        times = ", ".join([f'"{lost_s - 0.3:.1f} s"'] * (2 if samples == 1 else 1))
        loss = f"{{ forward = {{ at = [{times}] }}, backward = 0 }}"
        run = Run("timeout", {"flows.0.transfer": f"{samples * 1000} B", "links.0.loss": loss})
        finish = run.result().summary["flows"][0]["finish_s"]
        checks.append(
            against(
                "retransmission timeout (RFC 6298 §2)",
                f"after {samples} samples of 600 ms",
                run.command,
                math.nan if finish is None else finish - rtt / 2 - lost_s,
                theory.timeouts(rtt, samples),
                unit="s",
                tolerance=0.002,
            )
        )
    return checks


def error_rates() -> list[Check]:
    """Returns checks of the fraction of packets that a link drops against its configured loss probability."""
    checks = []
    frame = 1064
    for loss, point, p in (
        ("1e-2", "packet error rate 1e-2", 1e-2),
        ("1e-3", "packet error rate 1e-3", 1e-3),
        ("1e-4", "packet error rate 1e-4", 1e-4),
        ("{ bit_error_rate = 1e-6 }", f"bit error rate 1e-6, {frame} B", 1 - (1 - 1e-6) ** (8 * frame)),
    ):
        sets = {"links.0.loss": f"{{ forward = {loss}, backward = 0 }}", "defaults.tcp.receive_buffer": "256 KiB"}
        run = Run("response", sets | {"links.0.delay": "1 ms", "duration": "1000 s"})
        result = run.result()
        link, sent = result.summary["links"][0], result.summary["flows"][0]["sent_segments"]
        half = 2.576 * math.sqrt(p * (1 - p) / sent)
        ours = link["dropped_error"] / sent
        checks.append(
            Check(
                "drop rate = configured probability",
                point,
                run.command,
                f"{ours:.4e} ({link['dropped_error']} of {sent})",
                f"{p:.4e} ± {half:.1e}",
                f"{ours / p - 1:+.2%}",
                abs(ours - p) <= half,
                "99 % interval of the binomial distribution",
            )
        )
    return checks


def mean_window(result: ll.Result, rtt_s: float, payload: int = 1024) -> float:
    """Returns the mean window in segments, calculated from the delivered payload."""
    flow = result.summary["flows"][0]
    return float(flow["delivered_bytes"] / payload * rtt_s / (result.simulated_s - flow["start_s"]))


def mathis(p: float) -> list[Check]:
    """Returns the check of one point of Reno's response function."""
    rtt = 0.1
    seconds = LOSSES / p * rtt / theory.reno_random(p) * 1.1
    run = Run("response", {"links.0.loss": f"{{ forward = {p:g}, backward = 0 }}", "duration": f"{seconds:.0f} s"})
    return _random_point("Reno, random losses", p, rtt, run, theory.mathis(p), theory.reno_random(p), "Mathis")


def cubic(p: float, rtt: float) -> list[Check]:
    """Returns checks of one point of CUBIC's response function, with equal and with random distances between losses."""
    name = '{ algorithm = "cubic", variant = "rfc9438", fast_convergence = false }'
    common = {"defaults.tcp.congestion": name, "links.0.delay": f"{rtt * 500:g} ms"}
    formula, renewal = theory.cubic(p, rtt), theory.cubic_random(p, rtt)
    seconds = LOSSES / p * rtt / renewal * 1.1
    sets = {"links.0.loss": f"{{ forward = {p:g}, backward = 0 }}", "duration": f"{seconds:.0f} s"}
    return [
        _periodic_point(p, rtt, Run("response", common), formula),
        *_random_point(
            "CUBIC, random losses", p, rtt, Run("response", common | sets), formula, renewal, "RFC 9438 §5.1"
        ),
    ]


def _periodic_point(p: float, rtt: float, base: Run, formula: float) -> Check:
    """Returns the check of a point with one loss every 1/p segments, as the formula assumes."""
    ours = periodic_window(p, rtt, base, formula)
    deviation, rounds = ours / formula - 1, 1 / (p * formula)
    applies = rounds >= LEAST_ROUNDS
    return Check(
        "CUBIC, a loss every 1/p segments (RFC 9438 §5.1)",
        f"p = {p:g}, RTT {rtt * 1e3:g} ms",
        "lightlag validate tcp",
        f"{ours:.5g} segments",
        f"{formula:.5g} segments",
        f"{deviation:+.2%}",
        abs(deviation) <= 0.10 if applies else None,
        ("±10%; " if applies else "outside the formula's range: ")
        + f"recovery, which it leaves out, takes 1 of {rounds:.0f} round trips of a cycle",
    )


def periodic_window(p: float, rtt: float, base: Run, expected: float) -> float:
    """Returns the mean window with one loss every 1/p segments.

    A scenario specifies losses by time, not by packet number. The time of each loss is therefore found by a run
    with the previous losses: it is when the sender has sent 1/p more segments. The flow starts with the
    steady-state window before a reduction, and with a loss in its first burst. From other windows, CUBIC
    approaches the steady state only slowly, because its growth function is flat where it would have to correct
    the window.
    """
    step, cycle = 1024 / p, rtt / (p * expected)
    times = [rtt + 1e-4]
    highest = expected * 4 / (3 + 0.7)
    sets = base.sets | {
        "record.trace": "sampled",
        "record.interval": f"{rtt * 1e3 / 20:g} ms",
        "defaults.tcp.initial_window": f"{highest - 12:.0f}",
    }

    def run_until(end_s: float) -> Run:
        lost = ", ".join(f'"{time:.6f} s"' for time in times)
        loss = f"{{ forward = {{ at = [{lost}] }}, backward = 0 }}"
        return Run("response", sets | {"links.0.loss": loss, "duration": f"{end_s:.3f} s"})

    while len(times) <= SETTLING_CYCLES + MEASURED_CYCLES:
        rows = run_until(times[-1] + 3 * cycle).result().trace("sequence")
        at, bytes_sent = rows["time_s"].to_numpy(), rows["sent_bytes"].to_numpy().astype(np.float64)
        sent = float(np.interp(times[-1], at, bytes_sent))
        times.append(float(np.interp(sent + step, bytes_sent, at)))
    run = run_until(times[-1] + cycle)
    begin, end = times[SETTLING_CYCLES], times[-1]
    rows = run.result().trace("sequence")
    first, last = np.interp([begin, end], rows["time_s"].to_numpy(), rows["sent_bytes"].to_numpy().astype(np.float64))
    return float((last - first) / 1024 * rtt / (end - begin))


def _random_point(
    reference: str, p: float, rtt: float, run: Run, formula: float, renewal: float, source: str
) -> list[Check]:
    """Returns checks of a point with random losses: by the renewal model, and for comparison by the formula."""
    result = run.result()
    ours = mean_window(result, rtt)
    dropped = result.summary["links"][0]["dropped_error"]
    point = f"p = {p:g}, RTT {rtt * 1e3:g} ms"
    apart = ours / formula - 1
    return [
        against(
            f"{reference}: renewal model",
            point,
            run.command,
            ours,
            renewal,
            unit="segments",
            tolerance=0.10,
            note=f"{dropped} losses, {result.summary['flows'][0]['timeouts']} timeouts",
        ),
        Check(
            f"{reference}: {source}",
            point,
            "the same run",
            f"{ours:.5g} segments",
            f"{formula:.5g} segments",
            f"{apart:+.2%}",
            abs(apart) <= 0.10 if source == "Mathis" else None,
            "±10%" if source == "Mathis" else "the formula assumes equal distances of losses",
        ),
    ]


def all_checks(effort: Effort) -> list[Check]:
    """Returns all checks, in the order of the table."""
    work: list[Callable[[], list[Check]]] = [window_over_rtt, payload_share, growth, timeouts, error_rates]
    work += [lambda p=p: mathis(p) for p in (3e-3, 1e-3, 3e-4)]  # type: ignore[misc]
    points = ((1e-3, 0.3), (1e-3, 0.6), (1e-4, 0.1), (1e-4, 0.6))
    work += [lambda p=p, rtt=rtt: cubic(p, rtt) for p, rtt in points]  # type: ignore[misc]
    return [check for group in effort.map(lambda reference: reference(), work) for check in group]
