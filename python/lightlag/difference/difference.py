"""Two results or two scenarios side by side: the input first, then each metric.

Examples
--------
>>> import lightlag as ll
>>> net = ll.Network("pair")
>>> net.link("a", "b", rate="2 Mbit/s", delay="50 ms")
>>> net.flow("a", "b", transfer="500 kB")
>>> slow, fast = ll.run(net, duration="60 s"), ll.run(net, duration="60 s", sets={"links.0.rate": "4 Mbit/s"})
>>> found = ll.diff(slow, fast)
>>> [(change.key, change.a, change.b) for change in found.input]
[('links.0.rate', '2 Mbit/s', '4 Mbit/s')]
>>> found.frame.filter(measure="completion_s").select("flow", "relative").rows()[0][1] < -0.3
True
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lightlag import _engine
from lightlag.comparison.comparison import Comparison, load_comparison
from lightlag.difference import flows as flow_difference
from lightlag.errors import InputError
from lightlag.files.input import is_capture
from lightlag.outcomes import pairing
from lightlag.outcomes.design import MEASURES, Design, Measure
from lightlag.outcomes.variables import Variable, meaning
from lightlag.results.result import Result, load
from lightlag.scenario import ScenarioLike, presets, read_scenario, toml_value
from lightlag.scenario.changed import ABSENT, Change, changes
from lightlag.study.study import StudyResults, open_study
from lightlag.text.quantities import scaled
from lightlag.text.table import Row
from lightlag.text.terminal import printable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Difference", "Side", "check_store", "diff", "read_result"]

Kind = Literal["run", "comparison", "study", "scenario"]
Comparable: TypeAlias = "Result | Comparison | StudyResults | ScenarioLike"
"""A result, a comparison, a study's results, a directory with one of these, or any description of a scenario."""

_COMPARED = (*MEASURES, Measure("timeouts", "Timeouts", "", "expirations of retransmission timers"))
LONG_S = 10.0
"""Times of at least this are shown in seconds, others in milliseconds."""
_MOST_FLOWS = 20
_NONE = "–"


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison."""

    kind: Kind
    name: str
    """The directory or file of this side; otherwise the name of the scenario."""
    scenario: dict[str, Any]
    """Scenario with every default; for a study, its complete design."""
    result: Result | Comparison | StudyResults | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns the side's name, its scenario's name and the version as plain values."""
        about = {"name": self.name}
        if not isinstance(self.result, StudyResults):
            about["scenario"] = self.scenario["name"]
        return about if self.result is None else about | {"version": self.result.version}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Paired and unpaired runs of two comparisons or studies.

    Runs with the same algorithm, point and seed form a pair.
    """

    same: int
    """Number of pairs whose results are identical in every number."""
    count: int
    """Total number of pairs."""
    only_a: int
    """Number of unpaired runs of the first comparison."""
    only_b: int
    """Number of unpaired runs of the second comparison."""


class Difference:
    """Two runs, two comparisons, two studies or two scenarios side by side. Made by :func:`lightlag.diff`."""

    def __init__(self, a: Side, b: Side) -> None:
        """`a` and `b` must be of the same kind."""
        self.a, self.b = a, b
        self.kind: Kind = a.kind
        self.input = _input(a, b)
        """The input that differs: version, seeds, and keys of the scenario as ``--set`` takes them."""
        self.frame = _measured(a, b)
        """The metrics of results, one row each: for two runs flow by flow, for two comparisons cell by cell.

        The columns are ``measure``, ``a``, ``b``, ``difference`` (``b`` minus ``a``) and ``relative`` (the difference
        divided by ``a``). Comparisons and studies are paired by seed: :func:`lightlag.outcomes.pairing.paired`
        describes the other columns, among them the half width of the 95 % interval and the effect size d_z.
        """
        self.pairs = _pairs(a.result, b.result)
        """Number of paired runs of two comparisons or studies, and number of equal ones; None for other results."""

    @property
    def hashes(self) -> tuple[str, str] | None:
        """The result hashes of two runs; None for comparisons and scenarios."""
        if isinstance(self.a.result, Result) and isinstance(self.b.result, Result):
            return self.a.result.result_hash, self.b.result.result_hash
        return None

    @property
    def is_equal(self) -> bool:
        """Whether both input and results are equal."""
        if self.input:
            return False
        if self.pairs is not None:
            return self.pairs.same == self.pairs.count and not self.pairs.only_a and not self.pairs.only_b
        return self.hashes is None or self.hashes[0] == self.hashes[1]

    def input_rows(self) -> list[Row]:
        """Returns the input that differs as text; long values are cut off."""
        return [
            {"input": change.key + (f" ({change.key_b} in B)" if change.key_b else "")}
            | {side: _value(value) for side, value in (("A", change.a), ("B", change.b))}
            for change in self.input
        ]

    def rows(self) -> list[Row]:
        """Returns the metrics as text; for runs only the metrics of the first 20 flows."""
        if self.frame is None:
            return []
        rows = self.frame.to_dicts()
        if self.kind == "run":
            shown = list(dict.fromkeys(row["flow"] for row in rows))[:_MOST_FLOWS]
            return [_flow_row(row) for row in rows if row["flow"] in shown]
        return [_cell_row(row) for row in rows]

    def notes(self) -> list[str]:
        """Returns the notes below the tables: whether the results are equal, and what the comparison leaves out."""
        notes = [] if self.input else ["the input is the same"]
        if self.hashes is not None:
            notes.append("the results are the same" if len(set(self.hashes)) == 1 else "the results differ")
        for letter, side in (("A", self.a), ("B", self.b)):
            if isinstance(side.result, Result) and side.result.interrupted:
                notes.append(f"{letter} was interrupted at {side.result.simulated_s:.4g} s")
            if isinstance(side.result, Comparison) and not side.result.is_complete:
                of = f"{len(side.result.outcomes)} of {side.result.expected} runs"
                notes.append(f"{letter} is not complete: {of} have finished")
        if self.pairs is not None:
            notes.append(_about_pairs(self.pairs))
        if self.frame is not None and self.kind == "run":
            notes += _unmatched(self.frame)
        return notes

    def to_json(self) -> dict[str, Any]:
        """Returns everything as plain values; numbers that do not exist are None."""
        plain: dict[str, Any] = {"kind": self.kind, "equal": self.is_equal}
        plain |= {"a": self.a.to_json(), "b": self.b.to_json(), "input": [change.to_json() for change in self.input]}
        if self.hashes is not None:
            plain["result_hashes"] = list(self.hashes)
        if self.pairs is not None:
            plain["runs"] = {
                "pairs": self.pairs.count,
                "same": self.pairs.same,
                "only_a": self.pairs.only_a,
                "only_b": self.pairs.only_b,
            }
        if self.frame is not None:
            plain["measures"] = self.frame.to_dicts()
        return plain

    def __repr__(self) -> str:
        return f"<Difference of two {self.kind}s: {self.a.name!r}, {self.b.name!r}; {len(self.input)} keys differ>"

    def _repr_html_(self) -> str:
        from lightlag.text.table import html_table

        return html_table(self.input_rows()) + html_table(self.rows())


def diff(a: Comparable, b: Comparable) -> Difference:
    """Compares two runs, two comparisons, two studies or two scenarios: the input that differs, then each metric.

    Flows of two runs are paired by name. Runs of two comparisons or studies are paired by algorithm, point and seed:
    the difference of a metric is the mean over these pairs, with its 95 % interval (Student t) and the effect size d_z
    (:mod:`lightlag.outcomes.pairing` has the source). Values of variables are the same if they are the same quantity.

    Parameters
    ----------
    a, b
        Results, comparisons, studies, directories of them, or scenarios as for :func:`lightlag.run`; both of the same
        kind.

    Raises
    ------
    InputError
        If they are not of the same kind, or if a directory does not hold results.
    ScenarioError
        If a scenario cannot be run.

    Examples
    --------
    >>> import lightlag as ll
    >>> found = ll.diff("geo", "leo")
    >>> [change.key for change in found.input][:3]
    ['defaults.tcp.receive_buffer', 'flows.0.transfer', 'links.1.delay']
    """
    one, other = _side(a), _side(b)
    if one.kind != other.kind:
        raise InputError(
            f"{printable(one.name)} is a {one.kind} and {printable(other.name)} a {other.kind}; "
            "name two results directories of run, compare or study, or two scenarios"
        )
    return Difference(one, other)


def check_store(store: str | os.PathLike[str] | None, results: Sequence[Result | Comparison | StudyResults]) -> None:
    """Checks that a store is given only for a study.

    Raises
    ------
    InputError
        If none of the results is a study, so that the store would have no effect.
    """
    if store is not None and not any(isinstance(one, StudyResults) for one in results):
        raise InputError("--store: neither side is a study, so there is no store to read; remove it")


def read_result(directory: str | os.PathLike[str]) -> Result | Comparison | StudyResults:
    """Reads a results directory of a run, of a comparison or of a study.

    Raises
    ------
    InputError
        If the directory holds none of them.
    """
    path = Path(directory)
    if path.is_file():
        is_packets = is_capture(path)
        what = "a capture" if is_packets else "a file"
        remedy = "lightlag inspect describes it, lightlag why diagnoses it"
        hint = f"; {remedy}" if is_packets else '; name a directory that "lightlag run" or "lightlag compare" wrote'
        raise InputError(f"{printable(directory)}: is {what}, not a results directory{hint}")
    if (path / "curves.jsonl").exists():
        return load_comparison(path)
    return open_study(path) if (path / "runs").is_dir() and (path / "study.toml").exists() else load(path)


def _side(given: Any) -> Side:
    if isinstance(given, (str, os.PathLike)) and os.path.isdir(given):  # noqa: PTH112 - a Path fails at long names
        given = read_result(given)
    if isinstance(given, Result):
        return Side("run", str(given.directory or given.name), given.scenario, given)
    if isinstance(given, Comparison):
        return Side("comparison", str(given.directory or given.name), given.scenario, given)
    if isinstance(given, StudyResults):
        return Side("study", str(given.directory), given.about["design"], given)
    if isinstance(given, (str, os.PathLike)) and not os.path.lexists(given) and str(given) not in presets.names():
        raise InputError(
            f"{printable(given)}: no such file or directory; name two results directories of run, compare or study, "
            "or two scenarios"
        )
    scenario = json.loads(read_scenario(given).json())
    name = os.fspath(given) if isinstance(given, (str, os.PathLike)) else scenario["name"]
    return Side("scenario", str(name), scenario)


# --- input ------------------------------------------------------------------------------------------------------------


def _input(a: Side, b: Side) -> list[Change]:
    found = []
    if a.result is not None and b.result is not None and a.result.version != b.result.version:
        found.append(Change("version", a.result.version, b.result.version))
    if isinstance(a.result, Comparison) and isinstance(b.result, Comparison):
        # The design has the first seed already.
        fixed, fixed_b = ({key: value for key, value in side.scenario.items() if key != "seed"} for side in (a, b))
        return found + _designs(a.result.design, b.result.design) + changes(fixed, fixed_b)
    if isinstance(a.result, StudyResults) and isinstance(b.result, StudyResults) and a.result.build != b.result.build:
        found.append(Change("build", a.result.build, b.result.build))
    return found + changes(a.scenario, b.scenario)


def _designs(a: Design, b: Design) -> list[Change]:
    """Returns the parts of two designs that differ: algorithms, parameters of common algorithms,
    variables, seeds.
    """
    own, other = ({one.label: list(one.choices) for one in design.competitors} for design in (a, b))
    both = own.keys() & other.keys()
    plain = [
        {
            "algorithms": list(algorithms),
            "algorithm": {label: choices for label, choices in algorithms.items() if label in both},
            "vary": {_keys(variable): list(variable.values) for variable in design.variables},
            "seed": design.seed,
            "replications": design.replications,
            "points": None if design.chosen is None else list(map(list, design.chosen)),
        }
        for design, algorithms in ((a, own), (b, other))
    ]
    return changes(*({key: value for key, value in part.items() if value is not None} for part in plain))


def _keys(variable: Variable) -> str:
    return "+".join(variable.keys) or "scenario"


# --- measures ---------------------------------------------------------------------------------------------------------


def _measured(a: Side, b: Side) -> pl.DataFrame | None:
    if isinstance(a.result, Result) and isinstance(b.result, Result):
        return flow_difference.frame(a.result.summary, b.result.summary)
    if (runs := _runs(a.result, b.result)) is None:
        return None
    cell, one, other = runs
    return pairing.paired(one, other, cell, [own.column for own in _COMPARED if own.column in one.columns])


def _runs(a: Any, b: Any) -> tuple[list[str], pl.DataFrame, pl.DataFrame] | None:
    """Returns the columns that identify a cell, and the runs of both sides.

    Values of variables are written as on the first side.
    """
    import polars as pl

    if not isinstance(a, (Comparison, StudyResults)) or not isinstance(b, (Comparison, StudyResults)):
        return None
    (labels, one), (labels_b, other) = (_of_runs(own) for own in (a, b))
    measures = [own.column for own in _COMPARED]
    there = [name for name in measures if name in one.columns and name in other.columns]
    kept = ["seed", "result_hash", *there]
    if labels.keys() != labels_b.keys():
        # A point of one is none of the other.
        none, none_b = (frame.select("congestion", *kept).clear() for frame in (one, other))
        return ["congestion"], none, none_b
    other = other.rename({labels_b[keys]: label for keys, label in labels.items()})
    for label in labels.values():
        # A column of plain numbers has no text.
        one, other = (frame.with_columns(frame[label].cast(pl.String)) for frame in (one, other))
        texts = {meaning(value): value for value in one[label].unique()}
        same = {value: texts.get(meaning(value), value) for value in other[label].unique()}
        other = other.with_columns(other[label].replace(same))
    cell = ["congestion", *labels.values()]
    return cell, one.select(*cell, *kept), other.select(*cell, *kept)


def _of_runs(of: Comparison | StudyResults) -> tuple[dict[str, str], pl.DataFrame]:
    """Returns the column of each variable by its keys, and a row for each run: algorithm, point, seed, metrics and
    hash.
    """
    import polars as pl

    if isinstance(of, StudyResults):
        labels = {"+".join(keys) or "scenario": label for label, keys in of.about["variables"].items()}
        return labels, of.runs.collect()
    labels = {_keys(variable): variable.label for variable in of.variables}
    there = {measure.column for measure in of.measures} | {"timeouts"}
    measures = [measure.column for measure in _COMPARED if measure.column in there]
    schema = {"congestion": pl.String} | dict.fromkeys(labels.values(), pl.String)
    rows = [
        [one.congestion, *one.point, one.seed, one.result_hash, *(getattr(one, name) for name in measures)]
        for one in of.outcomes
    ]
    schema |= {"seed": pl.UInt64, "result_hash": pl.String} | dict.fromkeys(measures, pl.Float64)
    return labels, pl.DataFrame(rows, schema=schema, orient="row")


def _pairs(a: Any, b: Any) -> Pairs | None:
    if (runs := _runs(a, b)) is None:
        return None
    cell, one, other = runs
    both = one.join(other, on=[*cell, "seed"], suffix="_b")
    same = int((both["result_hash"] == both["result_hash_b"]).sum())
    return Pairs(same, both.height, _count(a) - both.height, _count(b) - both.height)


def _count(of: Comparison | StudyResults) -> int:
    return int(of.about["finished"]) if isinstance(of, StudyResults) else len(of.outcomes)


# --- text -------------------------------------------------------------------------------------------------------------


def _value(value: Any) -> str:
    if value is ABSENT:
        return "not set"
    is_texts = isinstance(value, list) and all(isinstance(part, str) for part in value)
    text = value if isinstance(value, str) else ", ".join(value) if is_texts else toml_value(value)
    return text if len(text) <= 48 else f"{text[:47]}…"


def _about_pairs(pairs: Pairs) -> str:
    if not pairs.count:
        return "no run of A has a partner in B: none has the same algorithm, point and seed"
    runs = f"{pairs.count} run{'s' * (pairs.count != 1)} of A and B form pairs, {pairs.same} with equal results"
    alone = [f"{count} of {letter}" for count, letter in ((pairs.only_a, "A"), (pairs.only_b, "B")) if count]
    return runs + (f"; unpaired: {', '.join(alone)}" if alone else "")


def _unmatched(frame: pl.DataFrame) -> list[str]:
    """Returns notes about flows that only one of the runs has, and about flows that the table leaves out."""
    notes = []
    for letter, missing in (("A", "only_a"), ("B", "only_b")):
        names = frame.filter(frame[missing])["flow"].unique(maintain_order=True).to_list()
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            notes.append(f"flows of {letter} alone: {', '.join(names[:3])}{more}")
    if (hidden := frame["flow"].n_unique() - _MOST_FLOWS) > 0:
        notes.append(f"and {hidden} more flow{'s' * (hidden > 1)}; --json has all")
    return notes


def _flow_row(row: Mapping[str, Any]) -> Row:
    measure = flow_difference.MEASURES[row["measure"]]
    return {"flow": row["flow"]} | _cells(measure, row)


def _cell_row(row: Mapping[str, Any]) -> Row:
    measure = next(one for one in _COMPARED if one.column == row["measure"])
    numbers = ("measure", "pairs", "only_a", "only_b", "a", "b", "difference", "half_width", "relative", "effect_size")
    alone = [f"{row[key]} of {letter}" for letter, key in (("A", "only_a"), ("B", "only_b")) if row[key]]
    effect = row["effect_size"]
    return (
        {key: str(value) for key, value in row.items() if key not in numbers}
        | _cells(measure, row)
        | {"d_z": _NONE if effect is None else f"{effect:+.2f}", "pairs": str(row["pairs"])}
        | {"without a partner": ", ".join(alone) or _NONE}
    )


def _cells(measure: Measure, row: Mapping[str, Any]) -> Row:
    """Returns the texts of a row: both values, the difference with its interval, and the relative difference."""
    a, b, change, relative = (row[key] for key in ("a", "b", "difference", "relative"))
    factor, unit = _unit(measure, max((abs(value) for value in (a, b) if value is not None), default=0.0))

    def text(value: float | None, half: float | None = None, sign: str = "") -> str:
        if value is None:
            return _NONE
        mean, spread = value / factor, math.nan if half is None else half / factor
        is_count = not measure.unit and half is None and mean.is_integer()
        digits = 0 if is_count else _engine.decimals(mean, spread)
        around = "" if math.isnan(spread) else f" ± {spread:.{digits}f}"
        return f"{mean:{sign if mean else ''}.{digits}f}{around}{' ' * bool(unit)}{unit}"

    return {
        "measure": measure.title.lower() if measure.title != "RTT" else measure.title,
        "A": text(a),
        "B": text(b),
        "difference": text(change, row.get("half_width"), "+"),
        "relative": _NONE if relative is None else _percent(relative),
    }


def _percent(part: float) -> str:
    """Returns a relative difference in percent.

    Examples
    --------
    >>> _percent(-0.2216), _percent(615.98), _percent(0.0)
    ('-22.2 %', '+61,598 %', '0 %')
    """
    return f"{100 * part:+,.{1 if abs(part) < 10 else 0}f} %" if part else "0 %"


def _unit(measure: Measure, largest: float) -> tuple[float, str]:
    """Returns a divisor for the values of a metric, and the unit after division."""
    if measure.unit == "ms" and largest >= LONG_S:
        return 1.0, "s"
    if measure.unit in ("%", "ms"):
        return {"%": 0.01, "ms": 1e-3}[measure.unit], measure.unit
    if measure.unit != "bit/s":
        return 1.0, measure.unit
    value, prefix = scaled(largest)
    return (largest / value if value else 1.0), f"{prefix}{measure.unit}"
