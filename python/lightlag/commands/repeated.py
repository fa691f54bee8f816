"""Computes results again from their directory, and checks that they are the same."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lightlag import _engine
from lightlag.errors import CommandError, InputError
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    from lightlag.comparison.comparison import Comparison
    from lightlag.outcomes.plan import Plan
    from lightlag.results.result import Result

__all__ = ["beside", "comparison", "plan", "run", "same_comparison", "same_run"]

FAILED = 1


def run(file: str) -> Result | None:
    """Returns the run if a results directory is named instead of a scenario; otherwise None."""
    from lightlag.results.result import load
    from lightlag.scenario.reading import is_results

    return load(file) if is_results(file) else None


def comparison(files: list[str], *given: object) -> Comparison | None:
    """Returns the comparison if its results directory is named instead of scenarios; otherwise None.

    Parameters
    ----------
    given
        Options that would change the comparison, and are therefore rejected.

    Raises
    ------
    InputError
        If any of these options is set.
    """
    from lightlag.comparison.comparison import load_comparison

    found = [file for file in files if (Path(file) / "curves.jsonl").is_file()]
    if not found:
        return None
    if len(files) > 1 or any(given):
        raise InputError(
            f"{printable(found[0])}: is a comparison, which is repeated without changes; remove the other scenarios "
            "and options, or name its scenario instead"
        )
    earlier = load_comparison(found[0])
    if earlier.repeat is None:
        raise InputError(
            f"{printable(found[0])}: cannot be repeated from its directory: it uses a class of a program, belongs to a "
            "study, or comes from an older version; repeat the program or the study"
        )
    return earlier


def plan(earlier: Comparison) -> Plan:
    """Returns the plan of a comparison, to make its runs again."""
    from lightlag.outcomes.plan import Plan, cells_of

    return Plan(earlier.design, tuple(cells_of(earlier.design, earlier.design.scenarios)))


def beside(folder: Path | str) -> Path:
    """Returns the default directory of the new results."""
    whole = Path(folder).resolve()
    return Path(folder).parent / f"{whole.name}-again" if Path(folder).name else whole.with_name(f"{whole.name}-again")


def same_run(earlier: Result, now: Result) -> str:
    """Returns a line that confirms that two runs have the same result.

    Raises
    ------
    CommandError
        If the results differ.
    """
    if earlier.interrupted:
        return f"{earlier.directory} was interrupted, so that the results cannot be compared"
    if earlier.result_hash != now.result_hash:
        raise _differs(earlier, f"the hash is {now.result_hash}, and was {earlier.result_hash}")
    return f"the same result as {earlier.directory}: hash {now.result_hash}"


def same_comparison(earlier: Comparison, now: Comparison) -> str:
    """Returns a line that confirms that two comparisons have the same result.

    Raises
    ------
    CommandError
        If the results differ.
    """
    old, new = _hashes(earlier), _hashes(now)
    both = old.keys() & new.keys()
    if wrong := sum(old[key] != new[key] for key in both):
        raise _differs(earlier, f"{wrong:,} of {len(both):,} runs have another hash")
    return f"the same results as {earlier.directory}: {len(both):,} runs with the same hash"


def _hashes(of: Comparison) -> Mapping[Any, str]:
    return {(one.congestion, one.point, one.seed): one.result_hash for one in of.outcomes}


def _differs(earlier: Result | Comparison, how: str) -> CommandError:
    made = earlier.origin.get("engine", earlier.version)
    why = f"; {made} made it, this is {_engine.__build__}" if made != _engine.__build__ else "; the engine is the same"
    return CommandError(FAILED, f"another result than {earlier.directory}: {how}{why}")
