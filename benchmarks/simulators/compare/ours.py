"""Runs lightlag on the cells of the grid, through its public interface."""

from __future__ import annotations

from grid import MEGABITS, PAYLOAD, Cell, Outcome
from settings import BOUNDED, HEADERS, PROFILES, Switch

import lightlag
from lightlag.scenario import congestion_names


def known() -> set[str]:
    """The algorithms that this build has."""
    return set(congestion_names())


def window(algorithm: str, cell: Cell) -> int:
    """Returns the receive window in segments; 0 if it is unlimited."""
    return 2 * cell.bdp if algorithm in BOUNDED else 0


def outcomes(simulator: str, algorithm: str, cell: Cell, switch: Switch | None) -> list[Outcome]:
    """Returns our outcomes of a cell, one per seed."""
    return [_run(simulator, algorithm, cell, switch, seed) for seed in cell.seeds]


def scenario(simulator: str, algorithm: str, cell: Cell, switch: Switch | None) -> lightlag.Scenario:
    """The scenario of a cell."""
    tcp = dict(PROFILES[simulator])
    if segments := window(algorithm, cell):
        if simulator == "ns-2":
            # Its window is the sender's: the first threshold, and nothing that waits for a repair fills it.
            tcp["initial_ssthresh"] = segments
        else:
            tcp["receive_buffer"] = f"{segments * PAYLOAD} B"
    parameters = {"algorithm": algorithm}
    if switch is not None:
        tcp |= switch.tcp
        parameters |= switch.congestion
    tcp["congestion"] = parameters
    delay = f"{cell.round_trip_ms / 2:g} ms"
    net = lightlag.Network(f"{algorithm}-{simulator}", tcp=tcp, record=lightlag.Record(trace="off", queue="off"))
    net.link(
        "client",
        "server",
        rate=f"{MEGABITS:g} Mbit/s",
        delay=delay,
        queue={"forward": f"{cell.bdp} packets", "backward": "100000 packets"},
        loss={"forward": cell.loss} if cell.loss else None,
        header=HEADERS[simulator],
    )
    net.flow("client", "server")
    return net.scenario(f"{cell.seconds} s")


def _run(simulator: str, algorithm: str, cell: Cell, switch: Switch | None, seed: int) -> Outcome:
    flow = lightlag.run(scenario(simulator, algorithm, cell, switch), seed=seed).summary["flows"][0]
    return Outcome(flow["goodput_bps"] / 1e6, flow["retransmitted_segments"], flow["mean_cwnd_segments"])
