"""Mean windows under random losses for all algorithms, compared with response functions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightlag import _engine
from lightlag.validation import theory
from lightlag_papers.paper import Effort
from lightlag_papers.validation import laws, renewal
from lightlag_papers.validation.laws import Plain, above, aimd
from lightlag_papers.validation.references import mean_window
from lightlag_papers.validation.renewal import Law
from lightlag_papers.validation.scenarios import Run

LOSS_RATES = (1e-2, 1e-3, 1e-4)
RTTS_S = (0.05, 0.2, 0.6)
LOSSES = {1e-2: 2000, 1e-3: 1500, 1e-4: 600}
"""Number of losses in a cell, by loss rate: fewer if they take longer to simulate."""
TOLERANCE = 0.10
UNKNOWN_S, UNKNOWN_ROUNDS = 30.0, 100
"""Duration for algorithms without a response function, in s or round trips, whichever is longer."""
CROWDED = 0.5
"""Minimum number of losses per round trip for which formulas for isolated losses do not apply."""
WAITING = 0.05
"""Minimum fraction of the time in timeouts that explains a deviation."""


@dataclass(frozen=True)
class Algorithm:
    """An algorithm with its response function.

    Attributes
    ----------
    name
        Name in the engine's catalogue.
    label
        Label in the table.
    options
        Parameters in addition to the name, as in a scenario.
    formula
        Mean window in segments as a function of loss rate and round-trip time in seconds; None if there is no closed
        form.
    source
        The formula as text, and its source.
    law
        Growth and reduction for the renewal model, of the round-trip time; None if random losses alone do not decide
        the window.
    scales
        Whether the law depends on the round-trip time.
    """

    name: str
    label: str
    source: str
    formula: Callable[[float, float], float] | None = None
    law: Callable[[float], Law] | None = None
    options: str = ""
    scales: bool = False

    @property
    def choice(self) -> str:
        """The algorithm as it is written in a scenario."""
        return f'{{ algorithm = "{self.name}", {self.options} }}' if self.options else self.name


def _cubic(p: float, rtt: float) -> float:
    return max(theory.cubic(p, rtt), theory.mathis(p))


def _from(limit: float, high: float, low: float) -> float:
    """Returns `high` if it exceeds the limit of its validity, otherwise `low`, the window of the other rule."""
    return high if high > limit else low


def _plain(slope: laws.Rule | float, kept: laws.Rule | float) -> Callable[[float], Law]:
    return lambda _: Plain(slope, kept)


def _reno(label: str, name: str) -> Algorithm:
    return Algorithm(name, label, "√(3/2p), Mathis et al. 1997", lambda p, _: theory.mathis(p), _plain(1.0, 0.5))


ALGORITHMS = (
    _reno("Reno", "reno"),
    _reno("NewReno", "newreno"),
    Algorithm(
        "cubic",
        "CUBIC, without Reno-friendly region and fast convergence",
        "(C(3+β)/4(1-β))^¼ (RTT/p)^¾, RFC 9438 §5.1",
        theory.cubic,
        lambda _: laws.Cubic(friendly=False, fast_convergence=False),
        "reno_friendly = false, fast_convergence = false",
        scales=True,
    ),
    Algorithm(
        "cubic",
        "CUBIC",
        "maximum of the row above and √(3/2p), RFC 9438 §5.1",
        _cubic,
        lambda _: laws.Cubic(friendly=True, fast_convergence=True),
        scales=True,
    ),
    Algorithm(
        "bic",
        "BIC",
        "",
        None,
        lambda _: laws.Bic(),
    ),
    Algorithm(
        "highspeed",
        "HighSpeed",
        "0.12/p^0.835, 1.2/√p for p of 1e-3 or more, RFC 3649 §5",
        lambda p, _: laws.highspeed(p),
        lambda _: laws.highspeed_law(),
    ),
    Algorithm(
        "scalable",
        "Scalable",
        "0.08/p, Kelly 2003; up to 16 segments √(3/2p)",
        lambda p, _: _from(16, 0.08 / p, theory.mathis(p)),
        _plain(above(16, lambda w: 0.01 * w, 1.0), above(16, 0.875, 0.5)),
    ),
    Algorithm(
        "htcp",
        "H-TCP",
        "",
        None,
        laws.Htcp,
        scales=True,
    ),
    Algorithm(
        "illinois",
        "Illinois",
        "AIMD(10, 7/8): no queue",
        lambda p, _: aimd(p, 10, 0.875),
        _plain(above(15, 10.0, 1.0), above(15, 0.875, 0.5)),
    ),
    Algorithm(
        "veno",
        "Veno",
        "AIMD(1, 4/5): no queue",
        lambda p, _: aimd(p, 1, 0.8),
        _plain(1.0, 0.8),
    ),
    Algorithm(
        "yeah",
        "YeAH",
        "AIMD(1, 7/8), 0.08/p for 100 segments or more: no queue",
        lambda p, _: _from(100, 0.08 / p, aimd(p, 1, 0.875)),
        _plain(lambda w: np.maximum(w / 100, 1.0), 0.875),
    ),
    Algorithm(
        "hybla",
        "Hybla",
        "ρ √(3/2p), ρ = RTT/25 ms, Caini and Firrincieli 2004",
        lambda p, rtt: max(rtt / 0.025, 1.0) * theory.mathis(p),
        lambda rtt: Plain(max(rtt / 0.025, 1.0) ** 2, 0.5),
        scales=True,
    ),
    Algorithm(
        "vegas",
        "Vegas",
        "AIMD(1, 3/4): no queue",
        lambda p, _: aimd(p, 1, 0.75),
        _plain(1.0, 0.75),
    ),
    Algorithm(
        "fast",
        "FAST",
        "AIMD(γα = 10, 1/2): no queue",
        lambda p, _: aimd(p, 10, 0.5),
        _plain(10.0, 0.5),
    ),
    Algorithm(
        "compound",
        "Compound",
        "W^¾/8 per round trip for 38 segments or more, integrated; below √(3/2p)",
        lambda p, _: _from(38, laws.power(p, 0.125, 0.75, 0.5), theory.mathis(p)),
        _plain(above(38, lambda w: np.maximum(0.125 * w**0.75, 1.0), 1.0), 0.5),
    ),
    Algorithm("ledbat", "LEDBAT", "AIMD(1, 1/2): no queue", lambda p, _: theory.mathis(p), _plain(1.0, 0.5)),
    Algorithm("dctcp", "DCTCP", "√(3/2p): no marks", lambda p, _: theory.mathis(p), _plain(1.0, 0.5)),
    Algorithm("tahoe", "Tahoe", "", None, lambda _: laws.Tahoe()),
    Algorithm("westwood", "Westwood", ""),
    Algorithm("westwood+", "Westwood+", ""),
    Algorithm("copa", "Copa", ""),
    Algorithm("bbr", "BBR v1", ""),
    Algorithm("bbr3", "BBR v3", ""),
)


@dataclass(frozen=True)
class Cell:
    """A cell of the table: one algorithm at one loss rate and round-trip time.

    Attributes
    ----------
    ours, formula, model
        Mean window in segments: measured, by the closed form and by the renewal model; None if there is none.
    losses
        Number of lost segments.
    waiting
        Fraction of the time spent in timeouts.
    """

    algorithm: Algorithm
    p: float
    rtt_s: float
    ours: float
    formula: float | None
    model: float | None
    losses: int
    waiting: float

    @property
    def of_formula(self) -> float | None:
        """Relative deviation from the closed form."""
        return None if self.formula is None else self.ours / self.formula - 1

    @property
    def of_model(self) -> float | None:
        """Relative deviation from the renewal model."""
        return None if self.model is None else self.ours / self.model - 1

    @property
    def within_formula(self) -> bool:
        """Whether the closed form holds."""
        return _within(self.of_formula)

    @property
    def place(self) -> str:
        """The loss rate and round-trip time of the cell, as text."""
        return f"p = {power(self.p)}, {self.rtt_s * 1e3:g} ms"

    @property
    def reason(self) -> str:
        """The reason why the cell deviates from its closed form; empty if it does not or the reason is unknown."""
        if self.formula is None or self.within_formula:
            return ""
        if _within(self.of_model):
            return "random distances"
        if self.p * self.formula >= CROWDED:
            return "several losses per round trip"
        return "timeouts" if self.waiting >= WAITING else ""

    @property
    def holds(self) -> bool | None:
        """Whether the closed form or the renewal model holds; None without an applicable closed form."""
        if self.formula is None:
            return None
        if self.within_formula or _within(self.of_model):
            return True
        return None if self.reason else False

    @property
    def text(self) -> str:
        """The cell as text.

        It has our window, and its deviation from the closed form, or from the model if that is more informative.
        """
        parts = [f"{self.of_formula:+.0%}"] if self.of_formula is not None else []
        if self.of_model is not None and not self.within_formula:
            parts.append(f"model {self.of_model:+.0%}")
        shown = f"{self.ours:.4g}" + (f" ({', '.join(parts)})" if parts else "")
        return f"**{shown}**" if self.holds is False else shown

    def record(self) -> dict[str, Any]:
        """Returns the cell as plain values for JSON; windows are in segments."""
        own = ("p", "rtt_s", "ours", "formula", "model", "losses", "waiting", "holds", "reason")
        return {"algorithm": self.algorithm.label} | {name: getattr(self, name) for name in own}


def _within(deviation: float | None) -> bool:
    return deviation is not None and abs(deviation) <= TOLERANCE


def power(p: float) -> str:
    """Returns a power of ten as it is written.

    Examples
    --------
    >>> power(1e-2)
    '1e-2'
    """
    return f"{p:.0e}".replace("e-0", "e-")


def known() -> set[str]:
    """Returns the names of the engine's algorithms."""
    return {entry["name"] for entry in json.loads(_engine.catalog())["congestion"]}


def missing() -> list[str]:
    """Returns the names in the table that the engine does not have."""
    return sorted({algorithm.name for algorithm in ALGORITHMS} - known())


def run_of(algorithm: Algorithm, p: float, rtt_s: float, expected: float | None) -> Run:
    """Returns the run for a cell, long enough for the required number of losses."""
    seconds = max(UNKNOWN_S, UNKNOWN_ROUNDS * rtt_s) if expected is None else LOSSES[p] / p * rtt_s / expected * 1.05
    return Run(
        "response",
        {
            "defaults.tcp.congestion": algorithm.choice,
            "links.0.delay": f"{rtt_s * 500:g} ms",
            "links.0.loss": f"{{ forward = {power(p)}, backward = 0 }}",
            "duration": f"{seconds:.0f} s",
        },
    )


def cell(algorithm: Algorithm, p: float, rtt_s: float, model: float | None) -> Cell:
    """Measures one cell."""
    formula = None if algorithm.formula is None else algorithm.formula(p, rtt_s)
    result = run_of(algorithm, p, rtt_s, model).result()
    flow = result.summary["flows"][0]
    return Cell(
        algorithm,
        p,
        rtt_s,
        mean_window(result, rtt_s),
        formula,
        model,
        result.summary["links"][0]["dropped_error"],
        flow["limited_s"]["timeout"] / (result.simulated_s - flow["start_s"]),
    )


def model_of(algorithm: Algorithm, p: float, rtt_s: float) -> float | None:
    """Returns the renewal model's mean window in segments, for algorithms with growth and reduction rules."""
    if algorithm.law is None:
        return None
    start = theory.mathis(p) if algorithm.formula is None else algorithm.formula(p, rtt_s)
    return renewal.mean_window(algorithm.law(rtt_s), p, rtt_s, start)


def cells(effort: Effort) -> list[Cell]:
    """Returns all cells of the algorithms in the engine's catalogue."""
    names = known()
    places = [(one, p, rtt) for one in ALGORITHMS if one.name in names for p in LOSS_RATES for rtt in RTTS_S]
    models: dict[tuple[str, float, float], float | None] = {}
    for one, p, rtt in places:
        key = (one.label, p, rtt if one.scales else 0.0)
        if key not in models:
            models[key] = model_of(one, p, rtt)
    return effort.map(lambda at: cell(*at, models[(at[0].label, at[1], at[2] if at[0].scales else 0.0)]), places)
