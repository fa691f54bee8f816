"""Lab 10: an algorithm of the student."""

from __future__ import annotations

from lightlag.course import theory
from lightlag.course.contents import Lab
from lightlag.course.question import Question
from lightlag.course.runs import Runs

__all__ = ["LAB"]

LOSSY, SHARED, QUEUE = "lab10-lossy", "lab10-shared", "lab10-queue"
NEWRENO = {"defaults.tcp.congestion": "newreno"}
MATCHED = {"defaults.tcp.congestion": {"algorithm": "newreno", "beta": 0.7}}


def _fair(runs: Runs) -> float:
    seen = runs.mine(SHARED)
    return theory.jain([seen.goodput("first"), seen.goodput("second")])


def _gain(runs: Runs) -> float:
    return runs.mine(LOSSY).goodput() / runs(LOSSY, NEWRENO).goodput()


def _repeats(runs: Runs) -> bool:
    """Whether a second run gives the same result."""
    again = Runs(lambda name: LAB.files()[f"{name}.toml"], runs.algorithm)
    return bool(again.mine(LOSSY).result.result_hash == runs.mine(LOSSY).result.result_hash)


LAB = Lab(
    name="lab10",
    title="Your own algorithm",
    about="Design a congestion control for a lossy path that is fair and keeps the queue short.",
    scenarios=(LOSSY, SHARED, QUEUE),
    needs_algorithm=True,
    starting=("mine.py",),
    questions=(
        Question(
            id="q1",
            ask="What is the goodput of newreno in lab10-lossy?",
            unit="Mbit/s",
            within=0.04,
            measured=lambda runs: runs(LOSSY, NEWRENO).goodput(),
            theory=lambda _: theory.mathis(1e-3, 0.1) / 1e6,
            formula="MSS / RTT · √(3 / (2 p)) (Mathis et al. 1997)",
            hint="Run the scenario as it is.",
            reason="Slow start before the first loss is part of the mean.",
        ),
        Question(
            id="q2",
            ask="newreno with beta = 0.7 keeps 70 % of its window after a loss. How many times the goodput of q1 has "
            "it?",
            within=0.06,
            measured=lambda runs: runs(LOSSY, MATCHED).goodput() / runs(LOSSY, NEWRENO).goodput(),
            theory=lambda _: theory.aimd_ratio(0.7),
            formula="√((1 + β) / (1 − β) / 3) (Yang and Lam 2000)",
            hint='Set congestion = { algorithm = "newreno", beta = 0.7 }, run again, and divide.',
            reason="The mean window of AIMD at random loss. It is the gain that a smaller decrease alone can give.",
        ),
        Question(
            id="q3",
            ask="What is the goodput of your class in lab10-lossy?",
            unit="Mbit/s",
            within=0.02,
            measured=lambda runs: runs.mine(LOSSY).goodput(),
            hint="lightlag run lab10-lossy.toml -c mine.py:Mine, with the class that you hand in.",
            reason="Differs between classes; the checker runs the class that the answers name.",
        ),
        Question(
            id="q4",
            ask="How many times the goodput of newreno is that?",
            within=0.03,
            measured=_gain,
            hint="Divide the answer to q3 by that to q1.",
            reason="From q1 and q3.",
        ),
        Question(
            id="q5",
            ask="What is Jain's index of two flows of your class in lab10-shared?",
            within=0.02,
            measured=_fair,
            theory=lambda _: 1.0,
            formula="equal shares have index 1",
            hint="lightlag run lab10-shared.toml -c mine.py:Mine; the index is (x + y)² / (2 (x² + y²)).",
            reason="Two flows with the same rule and the same round trip should share equally. The sample reduces in "
            "proportion to its window, so that its flows converge.",
        ),
        Question(
            id="goodput",
            ask="Requirement: at least twice the goodput of newreno in lab10-lossy.",
            required=lambda runs: _gain(runs) >= 2.0,
            hint="Losses of this link are not congestion: reduce less, or reduce only if the round trip has grown.",
            reason="An algorithm that halves for each loss cannot reach it; q2 shows that a smaller decrease alone "
            "cannot, either.",
            points=2,
        ),
        Question(
            id="fairness",
            ask="Requirement: Jain's index of at least 0.9 in lab10-shared.",
            required=lambda runs: _fair(runs) >= 0.9,
            hint="Does your class reduce in proportion to its window when the queue overflows?",
            reason="Multiplicative decrease brings shares together, additive decrease does not (Chiu and Jain 1989).",
            points=2,
        ),
        Question(
            id="queue",
            ask="Requirement: a mean round trip of at most 200 ms in lab10-queue, with at least 8 Mbit/s of 10.",
            required=lambda runs: runs.mine(QUEUE).mean_rtt() <= 0.2 and runs.mine(QUEUE).goodput() >= 8.0,
            hint="The queue of this scenario holds 500 ms. Stop growing when the round trip is well above its minimum.",
            reason="A class that uses min_rtt_ns notices the queue before it overflows.",
            points=2,
        ),
        Question(
            id="repeats",
            ask="Requirement: two runs with the same seed give the same result.",
            required=_repeats,
            hint="Keep state in self, and use neither the clock nor the module random: lightlag.uniform draws "
            "repeatably.",
            reason="State in the class or the module is left from the first run.",
        ),
    ),
)
