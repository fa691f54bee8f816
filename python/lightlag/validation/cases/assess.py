"""The assessment of an algorithm by the test cases of BBR."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lightlag.errors import InputError
from lightlag.text.terminal import meant, printable
from lightlag.validation.assessment import REPLICATIONS, Assessment, assess, checked_count, checked_seed
from lightlag.validation.cases import case
from lightlag.validation.cases.catalogue import CASES, SOURCE
from lightlag.validation.tasks import Choice, Setup, read_choice

__all__ = ["bbr"]


def bbr(
    value: Choice = "bbr3",
    *,
    replications: int = REPLICATIONS,
    jobs: int | None = None,
    seed: int = 1,
    cases: Sequence[str] = tuple(CASES),
    progress: Callable[[int, int], object] | None = None,
) -> Assessment:
    """Runs the test cases of draft-ietf-ccwg-bbr, appendix A, with a congestion control.

    Cases about states apply only to algorithms that have them; a custom algorithm is measured by its window, goodput,
    losses and recoveries.

    Parameters
    ----------
    value
        The congestion control: a name or a table, as in the key ``congestion`` of a scenario.
    replications
        Number of runs of each case, with the seeds `seed`, `seed` + 1, ...
    jobs
        Number of simultaneous runs; by default one for each processor. The results do not depend on it.
    cases
        Names of the cases, such as ``startup-plateau``; by default all.
    progress
        Called with the number of finished runs and of all.

    Raises
    ------
    InputError, ScenarioError
        If an argument is wrong, or there is no such algorithm.
    Interrupted
        On Ctrl-C; ``result`` holds the cases that had finished.

    Examples
    --------
    >>> import lightlag.validation
    >>> found = lightlag.validation.bbr("bbr3", cases=["drain-inflight"], replications=1)
    >>> found.section("drain-inflight").holds
    True
    """
    setup = Setup(read_choice(value), checked_count(replications, "replications"), checked_seed(seed), 1.0)
    plan = {name: case.tasks(CASES[name], setup) for name in _wanted(cases)}
    found = Assessment(setup.label, setup.replications, setup.seed, 1.0, wanted=tuple(plan), subject=SOURCE)
    return assess(found, plan, lambda name, runs: case.section(CASES[name], runs), jobs, progress)


def _wanted(cases: Sequence[str]) -> list[str]:
    wanted = [cases] if isinstance(cases, str) else list(cases)
    for name in wanted:
        if name not in CASES:
            shown = printable(str(name))
            raise InputError(f'cases: no case "{shown}"; {meant(shown, CASES)}name some of {", ".join(CASES)}')
    if not wanted:
        raise InputError(f"cases: names no case; name some of {', '.join(CASES)}")
    return [name for name in CASES if name in wanted]
