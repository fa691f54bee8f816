"""Runs of a lab's scenarios, and values that are read from them, as the studio shows them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag.running import run

if TYPE_CHECKING:
    import polars as pl

    from lightlag.results import Result

__all__ = ["Observed", "Runs"]

SEED = 1
"""Seed of every run: the default of the scenarios, and of the studio."""


class Runs:
    """Runs of scenarios, each made once.

    Parameters
    ----------
    read
        Returns the text of a scenario by its name.
    algorithm
        The class of the student, for scenarios that use it: ``FILE:CLASS``.
    """

    def __init__(self, read: Callable[[str], str], algorithm: str | None = None) -> None:
        self._read = read
        self._done: dict[str, Observed] = {}
        self.algorithm = algorithm

    def __call__(self, scenario: str, sets: Mapping[str, object] | None = None) -> Observed:
        """Runs a scenario, with changes."""
        key = json.dumps([scenario, sorted((sets or {}).items(), key=lambda item: item[0])], default=str)
        if key not in self._done:
            self._done[key] = Observed(self._run(scenario, sets or {}))
        return self._done[key]

    def mine(self, scenario: str, sets: Mapping[str, object] | None = None) -> Observed:
        """Runs a scenario with the class of the student as congestion control of every flow."""
        assert self.algorithm is not None, "this lab has no class of a student"
        return self(scenario, {**(sets or {}), "defaults.tcp.congestion": {"python": self.algorithm}})

    def _run(self, scenario: str, sets: Mapping[str, object]) -> Result:
        import tomllib

        plain: dict[str, Any] = tomllib.loads(self._read(scenario))
        own = sets.get("defaults.tcp.congestion")
        if isinstance(own, dict) and "python" in own:
            file, _, cls = str(own["python"]).rpartition(":")
            own = {"python": f"{Path(file).resolve()}:{cls}"}
            sets = {**sets, "defaults.tcp.congestion": own}
        return run(plain, sets=dict(sets), seed=SEED, progress=False)


class Observed:
    """Values that are read from a run."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.end_s: float = result.simulated_s

    def flow(self, name: str | None = None) -> dict[str, Any]:
        """The row of a flow; without a name, of the first one."""
        rows: list[dict[str, Any]] = list(self.result.summary["flows"])
        return rows[0] if name is None else next(row for row in rows if row["name"] == name)

    def link(self, name: str) -> dict[str, Any]:
        """The row of a direction of a link."""
        rows: list[dict[str, Any]] = list(self.result.summary["links"])
        return next(row for row in rows if row["name"] == name)

    def goodput(self, name: str | None = None) -> float:
        """Goodput of a flow over the run, in Mbit/s."""
        return float(self.flow(name)["goodput_bps"]) / 1e6

    def finish(self, name: str | None = None) -> float:
        """Time when a transfer has finished, in s."""
        return float(self.flow(name)["finish_s"])

    def cwnd(self, time_s: float) -> float:
        """Congestion window of the first flow at a time, in segments."""
        import polars as pl

        rows = self._trace(None).filter(pl.col("time_s") <= time_s)
        return float(rows["cwnd_segments"][-1])

    def max_cwnd(self, from_s: float, to_s: float) -> float:
        """Maximum of the congestion window of the first flow between two times, outside recovery, in segments."""
        import polars as pl

        rows = self._trace(None).filter(pl.col("time_s").is_between(from_s, to_s) & (pl.col("phase") == "open"))
        return float(rows["cwnd_segments"].to_numpy().max())

    def ssthresh(self, time_s: float) -> float:
        """Slow-start threshold of the first flow at a time, in segments."""
        import polars as pl

        rows = self._trace(None).filter(pl.col("time_s") <= time_s)
        return float(rows["ssthresh_segments"].drop_nulls()[-1])

    def last_cubic_k(self) -> float:
        """The longest K of the epochs of a CUBIC flow, in s."""
        return float(self._trace(None)["k_s"].drop_nulls().to_numpy().max())

    def max_w_max(self) -> float:
        """Wmax of the epoch of :meth:`last_cubic_k`, in segments."""
        rows = self._trace(None).drop_nulls("k_s").sort("k_s")
        return float(rows["w_max_segments"][-1])

    def min_rtt(self, name: str | None = None) -> float:
        """Minimum of the round-trip samples, in s."""
        return float(self.flow(name)["min_rtt_s"])

    def mean_rtt(self, name: str | None = None) -> float:
        """Mean of the round-trip samples, in s."""
        return float(self.flow(name)["mean_rtt_s"])

    def max_rtt(self, name: str | None = None) -> float:
        """Maximum of the round-trip samples, in s."""
        return float(self._trace(name)["rtt_s"].drop_nulls().to_numpy().max())

    def last_srtt(self, name: str | None = None) -> float:
        """The smoothed round-trip time at the end of the run, in s."""
        return float(self._trace(name)["srtt_s"].drop_nulls()[-1])

    def busy(self, link: str) -> float:
        """Fraction of the run in which a link transmitted."""
        return float(self.link(link)["utilisation"])

    def lost(self, link: str) -> dict[str, int]:
        """Packets that a link dropped, by cause."""
        row = self.link(link)
        return {cause: int(row[f"dropped_{cause}"]) for cause in ("queue", "aqm", "error", "outage")}

    def paths(self) -> list[list[str]]:
        """The paths of the first flow, in the order of their use."""
        table = self.result.paths
        assert table is not None, "a scenario of a constellation records its paths"
        return [list(map(str, one["node"])) for _, one in table.group_by("time_s", maintain_order=True)]

    def _trace(self, name: str | None) -> pl.DataFrame:
        import polars as pl

        table = self.result.trace()
        return table.filter(pl.col("flow").cast(pl.String) == (name or self.flow()["name"]))
