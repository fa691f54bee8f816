"""Several results in one figure: their names, and several comparisons as one."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from lightlag.errors import InputError
from lightlag.outcomes.design import Design, Point
from lightlag.outcomes.outcomes import Outcomes
from lightlag.outcomes.variables import Variable, meaning
from lightlag.records.records import Records
from lightlag.text.terminal import printable

__all__ = ["comparisons", "merged", "named"]

Kind = TypeVar("Kind", bound=Records | Outcomes)


def named(given: Iterable[Any] | Mapping[str, Any], kind: type[Kind]) -> dict[str, Kind]:
    """Returns results by the names that figures give them.

    These are the names of the scenarios if they all differ, otherwise the last parts of the directories, or the
    complete paths if these are equal. Results without a directory are numbered.

    Parameters
    ----------
    given
        Results, or results by name.
    kind
        Class that the results must have.

    Raises
    ------
    InputError
        If there is no result, if one is of another kind, or if a directory is duplicated.
    """
    results = list(given.values() if isinstance(given, Mapping) else given)
    if not results:
        raise InputError("no result; give at least one")
    for result in results:
        if not isinstance(result, kind):
            raise InputError(_of_another_kind(result, kind))
    if isinstance(given, Mapping):
        return dict(given)
    names = _names(results)
    if repeated := [name for at, name in enumerate(names) if name in names[:at]]:
        raise InputError(f"{printable(repeated[0])}: is duplicated; name each directory once")
    return dict(zip(names, results, strict=True))


def comparisons(results: Any) -> dict[str, Outcomes] | None:
    """Returns comparisons by the names that figures give them; None if the results are runs."""
    several = list(results.values() if isinstance(results, Mapping) else results) if _is_several(results) else [results]
    if not several or not isinstance(several[0], Outcomes):
        return None
    return named(results if _is_several(results) else [results], Outcomes)


def _is_several(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, (Records, Outcomes))


def _of_another_kind(result: object, kind: type[Any]) -> str:
    if isinstance(result, (Records, Outcomes)):
        name = printable(result.directory or result.name)
        found, others = ("a run", "comparisons") if isinstance(result, Records) else ("a comparison", "runs")
        return f"{name} is {found}, and the others are {others}; a figure shows results of one kind"
    what = "Result" if issubclass(kind, Records) else "Comparison"
    return f"{printable(repr(result)):.60} is not a {what}; give results of one kind"


def _names(results: list[Records] | list[Outcomes]) -> list[str]:
    scenarios = [result.name for result in results]
    if len(set(scenarios)) == len(results):
        return scenarios
    folders = [result.directory for result in results]
    if None in folders:
        return [f"{name} {at}" for at, name in enumerate(scenarios, start=1)]
    last = [directory.resolve().name for directory in folders if directory is not None]
    return last if len(set(last)) == len(results) else [str(directory) for directory in folders]


def merged(comparisons: Mapping[str, Outcomes]) -> Outcomes:
    """Merges several comparisons into one, in which the label of each algorithm starts with the name of its comparison.

    The same algorithm of all comparisons appears side by side. Values of a variable are the same if they are the same
    quantity. A comparison that lacks a value has no runs at its points.

    Raises
    ------
    InputError
        If the comparisons do not vary the same keys.
    """
    if len(comparisons) == 1:
        return next(iter(comparisons.values()))
    first = next(iter(comparisons.values()))
    variables = _variables(comparisons)
    texts = [{meaning(value): value for value in variable.values} for variable in variables]

    def place(of: Outcomes, point: Point) -> Point:
        at = {variable.keys: value for variable, value in zip(of.variables, point, strict=True)}
        return tuple(text[meaning(at[own.keys])] for own, text in zip(variables, texts, strict=True))

    competitors = [
        dataclasses.replace(one, label=f"{name}: {one.label}")
        for label in dict.fromkeys(one.label for of in comparisons.values() for one in of.design.competitors)
        for name, of in comparisons.items()
        for one in of.design.competitors
        if one.label == label
    ]
    outcomes = [
        dataclasses.replace(one, congestion=f"{name}: {one.congestion}", point=place(of, one.point))
        for name, of in comparisons.items()
        for one in of.outcomes
    ]
    is_grid = all(of.design.chosen is None for of in comparisons.values())
    points = dict.fromkeys(place(of, point) for of in comparisons.values() for point in of.points)
    design = Design(
        first.scenario | {"name": ", ".join(dict.fromkeys(of.name for of in comparisons.values()))},
        tuple(competitors),
        tuple(variables),
        first.design.seed,
        max(of.design.replications for of in comparisons.values()),
        None if is_grid else tuple(points),
    )
    return Outcomes(design, outcomes)


def _variables(comparisons: Mapping[str, Outcomes]) -> list[Variable]:
    """Returns the variables of the first comparison with the values of all comparisons."""
    (name, first), *others = comparisons.items()
    keys = {variable.keys for variable in first.variables}
    for other, of in others:
        if {variable.keys for variable in of.variables} != keys:
            raise InputError(
                f"{printable(name)} varies {_varied(first)}, and {printable(other)} {_varied(of)}; a figure shows "
                "comparisons that vary the same keys"
            )
    found = []
    for variable in first.variables:
        values: dict[object, str] = {}
        for of in comparisons.values():
            (own,) = (one for one in of.variables if one.keys == variable.keys)
            for value in own.values:
                values.setdefault(meaning(value), value)
        found.append(dataclasses.replace(variable, values=tuple(values.values())))
    return found


def _varied(of: Outcomes) -> str:
    return ", ".join("+".join(variable.keys) or "the scenario" for variable in of.variables) or "nothing"
