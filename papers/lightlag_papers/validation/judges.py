"""Measurements of lightlag beside closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import lightlag as ll
from lightlag.validation import theory
from lightlag_papers.epochs import OPEN, WindowTrace
from lightlag_papers.paper import Effort
from lightlag_papers.validation.judge import Judgement, against
from lightlag_papers.validation.scenarios import Run

FLOW = "client->server"
LOSSES = 2000
"""Losses for each point of a response function, where they are random."""
SETTLING_CYCLES, MEASURED_CYCLES = 12, 12
"""Cycles with periodic losses before and during the measurement."""
LEAST_ROUNDS = 10
"""Round trips of a cycle from which on CUBIC's response function is judged."""


def steady_goodput(result: ll.Result, from_s: float, to_s: float) -> float:
    """Payload delivered between two samples of a trace, in bit/s."""
    trace = result.trace("goodput")
    times, delivered = trace["time_s"].to_numpy(), trace["delivered_bytes"].to_numpy()
    first, last = (int(np.searchsorted(times, at, side="right")) - 1 for at in (from_s, to_s))
    return float((delivered[last] - delivered[first]) * 8 / (times[last] - times[first]))


def window_over_rtt() -> list[Judgement]:
    """Throughput of a flow that the receive window limits."""
    judgements = []
    for kibibytes, delay_ms in ((64, 300), (128, 50), (1024, 125)):
        sets = {"defaults.tcp.receive_buffer": f"{kibibytes} KiB", "links.0.delay": f"{delay_ms} ms"}
        run = Run("window", sets)
        # 48 s are a whole number of round trips, each of which carries one window in one burst.
        rtt = 2 * delay_ms * 1e-3 + (1064 + 40) * 8 / 1e9
        ours = steady_goodput(run.result(), 6, 54) / 1e6
        judgements.append(
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
    return judgements


def payload_share() -> list[Judgement]:
    """Goodput of a flow that fills a lossless link."""
    judgements = []
    for timestamps, header, payload, frame in ((True, 0, 1448, 1500), (False, 0, 1460, 1500), (True, 38, 1448, 1538)):
        sets = {"defaults.tcp.timestamps": str(timestamps).lower(), "links.0.header": f"{header} B"}
        run = Run("link", sets)
        ours = steady_goodput(run.result(), 20, 60) / 1e6
        judgements.append(
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
    return judgements


def growth() -> list[Judgement]:
    """Slow start and congestion avoidance of NewReno, per round trip."""
    judgements = []
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
            judgements.append(against(name, point, run.command, ours, expected, unit=unit, tolerance=0.02))
    return judgements


def _rates(trace: WindowTrace) -> tuple[float, float]:
    """Factor per round trip in slow start, segments per round trip in avoidance; RTT 100 ms.

    In slow start from the end of the second round to the end of the last complete one before the loss; in avoidance
    over all rounds from 1 s after the end of recovery on.
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


def timeouts() -> list[Judgement]:
    """The retransmission timeout after equal samples, seen from outside."""
    judgements = []
    rtt = 0.6
    for samples in range(1, 6):
        # The n-th segment leaves after n round trips, the handshake's included, and is lost; after the first one so
        # is the ACK of the handshake just before it.
        lost_s = samples * rtt
        times = ", ".join([f'"{lost_s - 0.3:.1f} s"'] * (2 if samples == 1 else 1))
        loss = f"{{ forward = {{ at = [{times}] }}, backward = 0 }}"
        run = Run("timeout", {"flows.0.transfer": f"{samples * 1000} B", "links.0.loss": loss})
        finish = run.result().summary["flows"][0]["finish_s"]
        judgements.append(
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
    return judgements


def error_rates() -> list[Judgement]:
    """Packets dropped by a link against the probability it was given."""
    judgements = []
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
        judgements.append(
            Judgement(
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
    return judgements


def mean_window(result: ll.Result, rtt_s: float, payload: int = 1024) -> float:
    """The mean window that the delivered payload stands for, in segments."""
    flow = result.summary["flows"][0]
    return float(flow["delivered_bytes"] / payload * rtt_s / (result.simulated_s - flow["start_s"]))


def mathis(p: float) -> list[Judgement]:
    """One point of Reno's response function."""
    rtt = 0.1
    seconds = LOSSES / p * rtt / theory.reno_random(p) * 1.1
    run = Run("response", {"links.0.loss": f"{{ forward = {p:g}, backward = 0 }}", "duration": f"{seconds:.0f} s"})
    return _random_point("Reno, random losses", p, rtt, run, theory.mathis(p), theory.reno_random(p), "Mathis")


def cubic(p: float, rtt: float) -> list[Judgement]:
    """One point of CUBIC's response function, with equal and with random distances of losses."""
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


def _periodic_point(p: float, rtt: float, base: Run, formula: float) -> Judgement:
    """A point with one loss every 1/p segments: what the formula assumes."""
    ours = periodic_window(p, rtt, base, formula)
    deviation, rounds = ours / formula - 1, 1 / (p * formula)
    applies = rounds >= LEAST_ROUNDS
    return Judgement(
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
    """The mean window with one loss every 1/p segments.

    A scenario can lose packets at times, not at numbers. So each loss is placed by a run with the losses before it:
    where the sender has sent 1/p segments more. The flow begins with the window at which the steady state reduces it,
    and with a loss in its first burst, because CUBIC approaches that state slowly from elsewhere: the growth function
    is flat where it should correct.
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
    judge: str, p: float, rtt: float, run: Run, formula: float, renewal: float, source: str
) -> list[Judgement]:
    """A point with random losses against the renewal model, and for comparison against the periodic formula."""
    result = run.result()
    ours = mean_window(result, rtt)
    dropped = result.summary["links"][0]["dropped_error"]
    point = f"p = {p:g}, RTT {rtt * 1e3:g} ms"
    apart = ours / formula - 1
    return [
        against(
            f"{judge}: renewal model",
            point,
            run.command,
            ours,
            renewal,
            unit="segments",
            tolerance=0.10,
            note=f"{dropped} losses, {result.summary['flows'][0]['timeouts']} timeouts",
        ),
        Judgement(
            f"{judge}: {source}",
            point,
            "the same run",
            f"{ours:.5g} segments",
            f"{formula:.5g} segments",
            f"{apart:+.2%}",
            abs(apart) <= 0.10 if source == "Mathis" else None,
            "±10%" if source == "Mathis" else "the formula assumes equal distances of losses",
        ),
    ]


def all_judgements(effort: Effort) -> list[Judgement]:
    """Every judge, in the order of the table."""
    work: list[Callable[[], list[Judgement]]] = [window_over_rtt, payload_share, growth, timeouts, error_rates]
    work += [lambda p=p: mathis(p) for p in (3e-3, 1e-3, 3e-4)]  # type: ignore[misc]
    points = ((1e-3, 0.3), (1e-3, 0.6), (1e-4, 0.1), (1e-4, 0.6))
    work += [lambda p=p, rtt=rtt: cubic(p, rtt) for p, rtt in points]  # type: ignore[misc]
    return [judgement for group in effort.map(lambda judge: judge(), work) for judgement in group]
