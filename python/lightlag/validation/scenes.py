"""Scenes: presets, compared with well-known algorithms."""

from __future__ import annotations

from collections.abc import Sequence

from lightlag import _engine
from lightlag.results.result import Result
from lightlag.validation.section import Section, columns, groups
from lightlag.validation.tasks import Measured, Setup, Task, label_of

__all__ = ["section", "tasks"]

SCENES: dict[str, tuple[str, dict[str, str]]] = {
    "geo": ("geo", {}),
    "leo": ("leo", {}),
    "geo, loss 1e-3": ("geo", {"links.1.loss": "1e-3"}),
}
"""The presets, each with changes, by the name of the scene."""
BESIDE = ("newreno", "cubic", "bbr")


def tasks(setup: Setup) -> list[Task]:
    """Returns runs of each preset with the algorithm and with the others, over the same seeds."""
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
    again, sent = (sum(flow[key] for flow in flows) for key in ("retransmitted_segments", "sent_segments"))
    rtts = [flow["mean_rtt_s"] for flow in flows if flow["mean_rtt_s"] is not None]
    return {
        "goodput_bps": sum(flow["goodput_bps"] for flow in flows),
        "retransmitted": _engine.retransmitted_share(again, sent) or 0.0,
        "mean_rtt_s": sum(rtts) / len(rtts) if rtts else float("nan"),
    }


def section(setup: Setup, measured: Sequence[Measured]) -> Section:
    """Returns the section with goodput, retransmitted segments and round trip by preset and algorithm."""
    names = ("goodput_bps", "retransmitted", "mean_rtt_s")
    rows = [{"scene": scene, "congestion": label} | columns(runs, *names) for (scene, label), runs in groups(measured)]
    said = []
    for row in rows:
        if row["congestion"] == setup.label:
            cubic = next(one for one in rows if (one["scene"], one["congestion"]) == (row["scene"], "cubic"))
            times = row["goodput_bps"] / cubic["goodput_bps"]
            said.append(f"{row['scene']}: {row['goodput_bps'] / 1e6:.3g} Mbit/s, {times:.2f} of CUBIC's")
    return Section("scenes", "Scenes", rows, "; ".join(said))
