"""Scenes: presets, beside algorithms that everyone knows."""

from __future__ import annotations

from collections.abc import Sequence

from lightlag.judge.section import Section, columns, groups
from lightlag.judge.tasks import Measured, Setup, Task, label_of
from lightlag.results.result import Result

__all__ = ["section", "tasks"]

SCENES: dict[str, tuple[str, dict[str, str]]] = {
    "geo": ("geo", {}),
    "leo": ("leo", {}),
    "geo, loss 1e-3": ("geo", {"links.1.loss": "1e-3"}),
}
"""A preset and its changes, by name."""
BESIDE = ("newreno", "cubic", "bbr")


def tasks(setup: Setup) -> list[Task]:
    """Each preset with the algorithm and with the others, over the same seeds."""
    from lightlag.scenario import toml_value

    choices = {label_of(choice): choice for choice in (setup.choice, *BESIDE)}
    return [
        Task((scene, label), preset, seed, _measure, changes | _changes(toml_value([choice])))
        for scene, (preset, changes) in SCENES.items()
        for label, choice in choices.items()
        for seed in setup.seeds
    ]


def _changes(congestion: str) -> dict[str, str]:
    return {"defaults.congestion": congestion, "record.queueing": "true", "record.trace": "sampled"}


def _measure(result: Result) -> dict[str, float]:
    flows = result.summary["flows"]
    sent = sum(flow["sent_segments"] for flow in flows)
    rtts = [flow["mean_rtt_s"] for flow in flows if flow["mean_rtt_s"] is not None]
    return {
        "goodput_bps": sum(flow["goodput_bps"] for flow in flows),
        "resent": sum(flow["retransmitted_segments"] for flow in flows) / max(sent, 1),
        "mean_rtt_s": sum(rtts) / len(rtts) if rtts else float("nan"),
    }


def section(setup: Setup, measured: Sequence[Measured]) -> Section:
    """Goodput, segments sent again and round trip by preset and algorithm."""
    names = ("goodput_bps", "resent", "mean_rtt_s")
    rows = [{"scene": scene, "congestion": label} | columns(runs, *names) for (scene, label), runs in groups(measured)]
    said = []
    for row in rows:
        if row["congestion"] == setup.label:
            cubic = next(one for one in rows if (one["scene"], one["congestion"]) == (row["scene"], "cubic"))
            times = row["goodput_bps"] / cubic["goodput_bps"]
            said.append(f"{row['scene']}: {row['goodput_bps'] / 1e6:.3g} Mbit/s, {times:.2f} of CUBIC's")
    return Section("scenes", "Scenes", rows, "; ".join(said))
