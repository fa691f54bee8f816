"""Studies: what they run, that nothing runs twice, that results do not depend on the worker, and bad input."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lightlag as ll
from lightlag import _engine
from lightlag.errors import InputError
from lightlag.study.axes import axes_of, points_of
from lightlag.study.campaign import Where, carry_out
from lightlag.study.entry import Entry, line, parsed
from lightlag.study.schedule import Schedule, Shard
from lightlag.study.store import LINES, merge, open_store
from lightlag.study.tables import Tables
from lightlag.study.target import Target

NET: dict[str, Any] = {
    "name": "pair",
    "duration": "3 s",
    "links": [{"between": ["a", "b"], "rate": "2 Mbit/s", "delay": "20 ms", "loss": 0.01}],
    "flows": [{"from": "a", "to": "b"}],
}


def small(**options: Any) -> ll.Study:
    """A study of eight cells that takes milliseconds."""
    given: dict[str, Any] = {
        "congestion": ["cubic", "newreno"],
        "vary": {"links.0.loss": [0.001, 0.01], "links.0.delay": ["10 ms", "50 ms"]},
        "replications": 3,
    }
    return ll.Study(NET, **given | options)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a directory."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def keys_written(store: Path) -> list[str]:
    """Returns the key of every line and row in a store, duplicates included."""
    found = []
    for path in (store / "journals").glob("*.jsonl"):
        found += [entry.key for text in path.read_bytes().splitlines() if (entry := parsed(text)) is not None]
    for path in (store / "parts").glob("*.parquet"):
        found += pl.read_parquet(path)["key"].to_list()
    return found


# --- axes -------------------------------------------------------------------------------------------------------------


def test_axes_combine_grids_steps_points_and_designs() -> None:
    axes = axes_of(
        [
            {"key": "links.0.loss", "values": [0, 1e-3]},
            {"zip": {"links.0.rate": ["1 Mbit/s", "2 Mbit/s"], "links.0.delay": ["10 ms", "20 ms"]}},
            {"points": [{"flows.0.start": "0 s", "duration": "1 s"}]},
        ],
        "axes",
    )
    assert list(points_of(axes)) == [
        ("0", "1 Mbit/s", "10 ms", "0 s", "1 s"),
        ("0", "2 Mbit/s", "20 ms", "0 s", "1 s"),
        ("0.001", "1 Mbit/s", "10 ms", "0 s", "1 s"),
        ("0.001", "2 Mbit/s", "20 ms", "0 s", "1 s"),
    ]


def test_a_latin_hypercube_has_a_point_in_every_slice_of_every_range() -> None:
    ranges = {"links.0.delay": ["10 ms", "110 ms"], "links.0.loss": {"from": 1e-4, "to": 1e-2, "scale": "log"}}
    (axis,) = axes_of([{"design": "latin-hypercube", "count": 20, "seed": 3, "ranges": ranges}], "axes")
    delays = sorted(float(delay.removesuffix(" ms")) for delay, _ in axis.rows)
    assert [int((delay - 10) // 5) for delay in delays] == list(range(20))
    assert sum(float(loss) < 1e-3 for _, loss in axis.rows) == 10
    again = axes_of([{"design": "latin-hypercube", "count": 20, "seed": 3, "ranges": ranges}], "axes")[0]
    assert again == axis


def test_a_sobol_sequence_fills_the_space_evenly() -> None:
    ranges = {"links.0.loss": [0, 1], "links.0.reorder": [0, 1]}
    (axis,) = axes_of([{"design": "sobol", "count": 64, "ranges": ranges}], "axes")
    quarters = [(float(a) >= 0.5, float(b) >= 0.5) for a, b in axis.rows]
    assert {quarter: quarters.count(quarter) for quarter in set(quarters)} == dict.fromkeys(set(quarters), 16)


def test_integers_of_a_range_include_both_ends() -> None:
    ranges = {"topology.pairs": {"from": 1, "to": 4, "whole": True}}
    (axis,) = axes_of([{"design": "latin-hypercube", "count": 40, "ranges": ranges}], "axes")
    assert {value for (value,) in axis.rows} == {"1", "2", "3", "4"}


def test_exclusions_leave_out_cells() -> None:
    study = small(exclude=[{"loss": 0.01, "congestion": "cubic"}, {"links.0.delay": "50 ms"}])
    cells = {(cell.congestion, *cell.point) for cell in study.plan().cells}
    assert cells == {("cubic", "0.001", "10 ms"), ("newreno", "0.001", "10 ms"), ("newreno", "0.01", "10 ms")}


# --- runs, tables -----------------------------------------------------------------------------------------------------


def test_a_study_gives_what_compare_gives(tmp_path: Path) -> None:
    study = small()
    results = study.run(tmp_path / "out", progress=False)
    compared = ll.compare(
        NET,
        ["cubic", "newreno"],
        vary={"links.0.loss": [0.001, 0.01], "links.0.delay": ["10 ms", "50 ms"]},
        replications=3,
        sets={"record.trace": "off"},
    )
    order = ["congestion", "loss", "delay", "seed"]
    ours = results.runs.collect().sort(order)
    assert ours.equals(compared.runs.select(ours.columns).sort(order))
    means = results.summary.filter(measure="goodput_bps").sort("congestion", "loss", "delay")
    theirs = compared.summary.filter(measure="goodput_bps").sort("congestion", "loss", "delay")
    for name in ("mean", "half_width"):
        assert means[name].to_list() == pytest.approx(theirs[name].to_list(), rel=1e-9)


def test_algorithms_whose_names_differ_by_a_sign_have_files_of_their_own(tmp_path: Path) -> None:
    study = ll.Study(NET, congestion=["westwood", "westwood+"], replications=1, set={"record.trace": "off"})
    found = study.run(tmp_path / "out", progress=False)
    assert sorted(found.runs.collect()["congestion"].to_list()) == ["westwood", "westwood+"]


def test_tables_carry_their_dictionary_and_answer_sql(tmp_path: Path) -> None:
    results = small().run(tmp_path / "out", progress=False)
    for path in (tmp_path / "out").rglob("*.parquet"):
        columns = json.loads(pl.read_parquet_metadata(path)["lightlag"])["columns"]
        assert list(columns) == pl.read_parquet(path).columns
        assert all(columns.values())
    best = results.sql("select congestion, count(*) as runs from runs group by all order by all")
    assert best.rows() == [("cubic", 12), ("newreno", 12)]
    assert len(results.flows.collect()) == 24
    assert len(results.comparison(tmp_path / "store").outcomes) == 24


@pytest.mark.parametrize("where", [{"jobs": 1}, {"jobs": 3}, {"processes": 2}], ids=str)
def test_results_do_not_depend_on_who_makes_the_runs(where: dict[str, Any], tmp_path: Path) -> None:
    small().run(tmp_path / "first", store=tmp_path / "store", progress=False)
    small().run(tmp_path / "other", store=tmp_path / "other-store", progress=False, **where)
    assert contents(tmp_path / "first") == contents(tmp_path / "other")


def test_curves_make_a_report_possible(tmp_path: Path) -> None:
    study = small(curves=True, replications=2)
    results = study.run(tmp_path / "out", progress=False)
    compared = results.comparison(tmp_path / "store")
    assert compared.has_traces
    assert compared.is_complete
    compared.save(tmp_path / "report", formats=("svg",))
    assert (tmp_path / "report" / "report.html").stat().st_size > 10_000


# --- the store --------------------------------------------------------------------------------------------------------


def test_nothing_runs_twice_in_one_study_or_in_another(tmp_path: Path) -> None:
    small(replications=2).run(tmp_path / "a", store=tmp_path / "store", progress=False)
    # The same points under another name, with one seed more, along another axis, and in another file format.
    wider = ll.Study(
        NET | {"name": "other"},
        name="b",
        congestion={"mine": "cubic", "other": "newreno"},
        axes=[
            {"zip": {"links.0.loss": [0.001, 0.01, 0.001, 0.01], "links.0.delay": ["10 ms", "50 ms", "50 ms", "10 ms"]}}
        ],
        replications=3,
    )
    found = carry_out(wider, open_store(tmp_path / "store"))
    assert (found.schedule.found, found.schedule.finished) == (16, 24)
    written = keys_written(tmp_path / "store")
    assert len(written) == len(set(written)) == 24


def test_shards_add_up_to_the_study(tmp_path: Path) -> None:
    small().run(tmp_path / "whole", progress=False, store=tmp_path / "whole-store")
    counts = []
    for number in (1, 2, 3):
        found = carry_out(small(), open_store(tmp_path / f"part-{number}"), shard=Shard(number, 3))
        counts.append(found.schedule.finished)
    assert counts == [8, 8, 8]
    merged = open_store(tmp_path / "merged")
    copied = list(merge(merged, [open_store(tmp_path / f"part-{number}", make=False) for number in (1, 2, 3)]))
    assert [count for _, count in copied] == counts
    small().run(tmp_path / "again", progress=False, store=tmp_path / "merged")
    assert contents(tmp_path / "whole") == contents(tmp_path / "again")


def test_stores_that_contradict_each_other_are_not_merged(tmp_path: Path) -> None:
    for name in ("one", "two"):
        carry_out(small(replications=1), open_store(tmp_path / name))
    (part,) = (tmp_path / "two" / "parts").iterdir()
    table = pl.read_parquet(part)
    table.with_columns(pl.lit("0" * 64).alias("result_hash")).write_parquet(part)
    with pytest.raises(InputError, match=r"hold different results of run [0-9a-f]+"):
        list(merge(open_store(tmp_path / "one"), [open_store(tmp_path / "two")]))


def test_torn_lines_are_read_around(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    found = carry_out(small(replications=1), store)
    table = store.table()
    (part,) = (tmp_path / "store" / "parts").iterdir()
    part.unlink()
    from lightlag.study import entry as entries

    whole = [line(one).encode() for one in entries.entries(table)]
    draw = random.Random(5)
    torn = b"".join(text if at % 2 else text[: draw.randrange(len(text))] + b"\n" for at, text in enumerate(whole))
    (tmp_path / "store" / "journals" / "killed-1-0.jsonl").write_bytes(torn + whole[0][:50])
    left = open_store(tmp_path / "store")
    assert len(left) == len(whole) // 2
    again = carry_out(small(replications=1), left)
    assert again.schedule.found == len(whole) // 2
    assert again.schedule.finished == found.schedule.finished
    assert Tables.of(small(replications=1).plan(), left, small().metrics, None).runs.height == len(whole)


def test_an_entry_survives_every_form_of_storage(tmp_path: Path) -> None:
    from lightlag.study import entry as entries

    store = open_store(tmp_path / "store")
    carry_out(small(replications=1, curves=True), store)
    for one in entries.entries(store.table()):
        assert parsed(line(one).encode()) == one
        (again,) = entries.entries(entries.frame([one]))
        assert again == one


def test_a_full_disk_ends_the_study_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno
    import os

    write, room = os.write, 4000

    def full(handle: int, data: Any) -> int:
        nonlocal room
        if len(data) < 200:
            return write(handle, data)
        if room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = write(handle, bytes(data)[:room])
        room -= done
        return done

    store = open_store(tmp_path / "store")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=r"store: cannot write: No space left on device"):
        carry_out(small(), store, Where(jobs=2))
    monkeypatch.undo()
    kept = len(open_store(tmp_path / "store"))
    assert kept > 0
    found = carry_out(small(), open_store(tmp_path / "store"))
    assert found.schedule.found == kept
    assert found.is_complete


def test_a_long_journal_becomes_parts(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    carry_out(small(replications=1), store)
    row = store.table()[0]
    from lightlag.study import entry as entries

    (one,) = entries.entries(row)
    with store.writer() as writer:
        for number in range(LINES + 5):
            writer.add(Entry(f"{number:032x}", one.build, one.cost_s, one.found))
    again = open_store(tmp_path / "store", make=False)
    assert len(again) == LINES + 5 + 8
    assert again.table(["key"]).height == len(again)
    assert not list((tmp_path / "store" / "journals").iterdir())


def test_a_store_at_a_url(tmp_path: Path) -> None:
    url = f"memory://{tmp_path.name}/store"
    first = small().run(tmp_path / "first", store=url, progress=False)
    found = carry_out(small(), open_store(url, make=False))
    assert found.schedule.found == 24
    small().run(tmp_path / "second", store=tmp_path / "local", progress=False)
    assert contents(first.directory) == contents(tmp_path / "second")


def test_two_clients_share_a_store(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[2]); import test_study as t; from lightlag.study.store import "
        "open_store; from lightlag.study.campaign import carry_out; "
        "print(carry_out(t.small(replications=20), open_store(sys.argv[1])).is_complete)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "store"), str(Path(__file__).parent)]
    clients = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [client.communicate()[0].strip() for client in clients] == ["True", "True"]
    small(replications=20).run(tmp_path / "both", store=tmp_path / "store", progress=False)
    small(replications=20).run(tmp_path / "alone", store=tmp_path / "other", progress=False)
    assert contents(tmp_path / "both") == contents(tmp_path / "alone")


# --- targets ----------------------------------------------------------------------------------------------------------

DISTRIBUTIONS: dict[str, tuple[Callable[[random.Random], float], float]] = {
    "normal": (lambda draw: draw.gauss(10, 2), 10.0),
    "uniform": (lambda draw: draw.uniform(5, 15), 10.0),
    "gamma": (lambda draw: draw.gammavariate(9, 1), 9.0),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_stopping_rule_covers_the_mean(name: str) -> None:
    value, mean = DISTRIBUTIONS[name]
    target = Target("goodput_bps", 0.05)
    covered, seeds = 0, []
    for study in range(1000):
        draw = random.Random(f"{name} {study}")
        values: list[float | None] = []
        for look in target.looks:
            values += [value(draw) for _ in range(look - len(values))]
            verdict = target.judge(values, look)
            if verdict.is_over:
                break
        covered += verdict.interval.low <= mean <= verdict.interval.high
        seeds.append(len(values))
    assert covered >= 950, f"{covered} of 1000 cover the mean, after {statistics.median(seeds)} seeds"


def test_a_study_stops_where_the_target_is_reached(tmp_path: Path) -> None:
    study = small(replications=None, until={"metric": "goodput_bps", "within": "10 %", "min_seeds": 5, "max_seeds": 30})
    results = study.run(tmp_path / "out", progress=False)
    rows = results.summary.filter(measure="goodput_bps")
    assert set(rows["runs"]) <= set(Target("goodput_bps", 0.1, min_seeds=5, max_seeds=30).looks)
    for row in rows.iter_rows(named=True):
        assert row["reached"] == (row["half_width"] <= 0.1 * row["mean"])
        assert row["reached"] or row["runs"] == 30
    assert 5 in set(rows["runs"])
    again = carry_out(study, open_store(tmp_path / "store"))
    assert again.schedule.found == again.schedule.finished == rows["runs"].sum()


def test_a_target_beyond_the_budget_reports_how_many_runs_it_takes(tmp_path: Path) -> None:
    study = small(
        replications=None,
        until={"metric": "goodput_bps", "within": "0.1 %", "min_seeds": 5, "max_seeds": 200},
        budget={"runs": 60},
    )
    with pytest.raises(InputError, match=r"takes about [\d,]+ runs.*budget.runs = 60"):
        carry_out(study, open_store(tmp_path / "store"))
    kept = open_store(tmp_path / "store")
    assert len(kept) >= 40
    # Its status is not an error.
    assert Schedule(study, kept, dry=True).finished == len(kept)


def test_a_budget_ends_a_study_that_continues_later(tmp_path: Path) -> None:
    first = carry_out(small(budget={"runs": 7}), open_store(tmp_path / "store"))
    assert (first.schedule.finished, first.is_spent, first.is_complete) == (7, True, False)
    second = carry_out(small(), open_store(tmp_path / "store"))
    assert (second.schedule.found, second.schedule.finished, second.is_complete) == (7, 24, True)


def test_a_run_that_takes_too_long_is_a_failure_with_a_command(tmp_path: Path) -> None:
    long = NET | {"duration": "100000 s", "links": [NET["links"][0] | {"rate": "1 Gbit/s"}]}
    study = ll.Study(long, congestion=["cubic"], replications=1, budget={"run": "300 ms"})
    found = carry_out(study, open_store(tmp_path / "store"))
    ((_, reason),) = found.schedule.failures.values()
    assert reason == "took longer than 0.3 s, the budget of a run"
    assert not found.is_complete
    assert open_store(tmp_path / "store").failures


def test_the_longest_cells_run_first(tmp_path: Path) -> None:
    study = ll.Study(NET, congestion=["cubic"], vary={"duration": ["1 s", "9 s", "3 s"]}, replications=2)
    schedule = Schedule(study, open_store(tmp_path / "store"))
    order = []
    while (taken := schedule.take()) is not None:
        order.append((taken[0].seed, taken[0].point[0]))
    assert order == [(1, "9 s"), (1, "3 s"), (1, "1 s"), (2, "9 s"), (2, "3 s"), (2, "1 s")]


def test_a_key_covers_the_build_and_the_contents_of_files_but_no_path(tmp_path: Path) -> None:
    keys = []
    for name in ("here", "there"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "rate.csv").write_text("time_s,rate_bps\n0,1e6\n")
        net = NET | {"links": [NET["links"][0] | {"trace": str(folder / "rate.csv")}]}
        keys.append([run.key for run in ll.Study(net, congestion=["cubic"], replications=2).plan().runs()])
    assert keys[0] == keys[1]
    assert _engine.__build__.startswith(f"{ll.__version__}+")


# --- bad input --------------------------------------------------------------------------------------------------------

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"replicatoins": 3}, r'replicatoins: is not a key of a study; did you mean "replications"\?'),
    "no scenario": ({"scenarios": []}, "name at least 1"),
    "an unknown scenario": ({"scenarios": ["nowhere"]}, "nowhere"),
    "two of a key": ({"vary": {"a": [1]}, "axes": [{"key": "a", "values": [2]}]}, '"a" varies on two axes'),
    "set and varied": (
        {"vary": {"links.1.loss": [0, 0.1]}, "set": {"links.1.loss": 0.2}},
        r"set.links.1.loss: cannot be combined with the axis",
    ),
    "uneven steps": ({"axes": [{"zip": {"a": [1, 2], "b": [1]}}]}, r"axes\[0\].zip: .* a has 2, b has 1"),
    "uneven points": (
        {"axes": [{"points": [{"a": 1}, {"b": 1}]}]},
        r"axes\[0\].points\[1\]: every point names the same",
    ),
    "two kinds": ({"axes": [{"zip": {"a": [1]}, "points": [{"a": 1}]}]}, r"axes\[0\]: has zip and points of"),
    "no kind": ({"axes": [{"key": "a"}]}, r"axes\[0\]: has none of values, zip, points, design"),
    "a strange key of an axis": ({"axes": [{"key": "a", "values": [1], "seed": 1}]}, r"axes\[0\].seed: is not a key"),
    "no list of axes": ({"axes": 3}, r"axes: 3 is not a list"),
    "no values": ({"axes": [{"key": "a", "values": []}]}, r"axes\[0\].values: has no value"),
    "values no list": ({"vary": {"a": 3}}, r"values: 3 is not a list"),
    "an unknown design": (
        {"axes": [{"design": "halton", "count": 4, "ranges": {"a": [0, 1]}}]},
        "latin-hypercube, sobol",
    ),
    "no power of 2": (
        {"axes": [{"design": "sobol", "count": 100, "ranges": {"a": [0, 1]}}]},
        r"axes\[0\].count: .* 100 is not; write 64 or 128",
    ),
    "an empty range": (
        {"axes": [{"design": "sobol", "count": 4, "ranges": {"a": ["5 ms", "5 ms"]}}]},
        r"axes\[0\].ranges.a: 5 is not below 5",
    ),
    "two units": (
        {"axes": [{"design": "sobol", "count": 4, "ranges": {"a": ["5 ms", "1 s"]}}]},
        'limits have the units "ms" and "s"',
    ),
    "a logarithm of 0": (
        {"axes": [{"design": "sobol", "count": 4, "ranges": {"a": {"from": 0, "to": 1, "scale": "log"}}}]},
        "0 is not valid on a logarithmic scale",
    ),
    "halves of integers": (
        {"axes": [{"design": "sobol", "count": 4, "ranges": {"a": {"from": 0.5, "to": 3, "whole": True}}}]},
        "are not integers",
    ),
    "no range": ({"axes": [{"design": "sobol", "count": 4, "ranges": {"a": 3}}]}, "3 is not a valid range"),
    "no count": ({"axes": [{"design": "sobol", "ranges": {"a": [0, 1]}}]}, r"axes\[0\].count: nothing is not a"),
    "how often and how well": ({"replications": 3, "until": {"within": "2 %"}}, "until cannot be combined"),
    "a width of nothing": ({"until": {"within": "0 %"}}, r"until.within: '0 %' is not a valid half-width"),
    "a width without end": ({"until": {"within": 2}}, "is not less than the mean"),
    "a width of another kind": ({"until": {"within": "5 ms"}}, "or a quantity in bit/s"),
    "an unknown metric": ({"until": {"metric": "speed", "within": "2 %"}}, "until.metric: 'speed' is not a metric"),
    "min_seeds above max_seeds": (
        {"until": {"within": "2 %", "min_seeds": 9, "max_seeds": 5}},
        "min_seeds = 9 is more than max_seeds = 5",
    ),
    "a strange confidence": ({"until": {"within": "2 %", "confidence": 95}}, "until.confidence: 95"),
    "the former key measure": ({"until": {"measure": "jain"}}, ": until.measure: is now metric$"),
    "the former key least": ({"until": {"least": 9}}, "until.least: is now min_seeds$"),
    "the former key most": ({"until": {"most": 9}}, "until.most: is now max_seeds$"),
    "the former key measures": ({"measures": ["goodput_bps"]}, "measures: is now metrics$"),
    "a strange key of until": ({"until": {"within": "2 %", "every": 5}}, "until.every: is not a key of a target"),
    "exclude what does not vary": ({"exclude": [{"rate": 3}]}, r"exclude\[0\].rate: does not vary"),
    "exclude nothing": ({"exclude": [{"congestion": "reno"}]}, r"exclude\[0\]: no point has these values"),
    "exclude all": ({"congestion": ["cubic"], "exclude": [{"congestion": "cubic"}]}, "no point is left"),
    "metrics": ({"metrics": ["speed"]}, "metrics: 'speed' is not a metric"),
    "curves": ({"curves": "yes"}, "curves: 'yes' is neither true nor false"),
    "a budget": ({"budget": {"time": 3}}, "budget: .* is not a valid budget"),
    "a budget without a unit": ({"budget": {"wall": "30"}}, "budget.wall: '30' is not a valid time"),
    "replications": ({"replications": 0}, "replications: 0 is not a whole number from 1"),
    "a seed": ({"seed": -1}, "seed: -1 is not a whole number from 0"),
    "seeds without end": ({"seed": 2**63 - 2}, "seed: 10 seeds that start at"),
    "a name": ({"name": "../x"}, "name: '../x' is not a valid directory name"),
    "the same twice": ({"congestion": {"a": "cubic", "b": "cubic"}}, '"a" and "b" are the same run'),
    "a value that cannot be": ({"vary": {"links.1.loss": [0, 2]}}, "with loss=2"),
    "too many points": (
        {"axes": [{"key": f"k{at}", "values": list(range(100))} for at in range(4)]},
        "100,000,000 points are more than",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_studies_get_one_clear_error(name: str, tmp_path: Path) -> None:
    table, message = BAD[name]
    file = tmp_path / "bad.toml"
    from lightlag.scenario import toml

    file.write_text(toml.document({"scenarios": ["geo"], "congestion": ["cubic"]} | table))
    with pytest.raises((InputError, ll.ScenarioError), match=message) as caught:
        ll.Study.read(file).plan()
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read: No such file"),
        ("folder", "is a directory; name a study file"),
        ("a = [", "is not valid TOML"),
        ("", "scenarios: is missing"),
    ],
)
def test_files_that_are_not_a_study(content: str | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    if content == "folder":
        file.mkdir()
    elif content is not None:
        file.write_text(content)
    with pytest.raises(InputError, match=message):
        ll.Study.read(file)


def test_paths_that_are_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no store"):
        open_store(tmp_path / "none", make=False)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files, and no store"):
        open_store(tmp_path / "other")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        open_store(tmp_path / "file")
    open_store(tmp_path / "store")
    (tmp_path / "store" / "store.json").write_text('{"lightlag": "store", "format": 7}')
    with pytest.raises(InputError, match="is a store of format 7, and this version of lightlag uses format 1"):
        open_store(tmp_path / "store")
    (tmp_path / "store" / "store.json").write_text("{")
    with pytest.raises(InputError, match="does not describe a store"):
        open_store(tmp_path / "store")
    with pytest.raises(InputError, match="is not a valid location of a store"):
        open_store("gopher://x/y")


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    carry_out(small(replications=1), open_store(tmp_path / "store"))
    (part,) = (tmp_path / "store" / "parts").iterdir()
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(InputError, match=rf"{part.name}: is not a complete part of a store: .*; remove it"):
        open_store(tmp_path / "store")


def test_damaged_results_are_named(tmp_path: Path) -> None:
    results = small(replications=1).run(tmp_path / "out", progress=False)
    (tmp_path / "out" / "runs" / "cubic-0000.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"cubic-0000.parquet: is damaged"):
        results.runs  # noqa: B018
    with pytest.raises(InputError, match="sql: "):
        results.sql("select nothing from nowhere")
    with pytest.raises(InputError, match="does not hold the results of a study"):
        ll.open_study(tmp_path / "store")


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3"])
def test_strange_shards(text: str) -> None:
    with pytest.raises(InputError, match="--shard"):
        Shard.of(text)


@pytest.mark.long
def test_contradictory_execution_options(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    for where, message in (
        (Where(jobs=2, processes=2), "jobs and processes cannot be combined"),
        (Where(profile="x"), "profile: is for a cluster"),
        (Where(cluster="moon"), '"moon": is not a cluster'),
        (Where(cluster="slurm"), "name a file with --profile"),
        (Where(cluster="tcp://127.0.0.1:9"), "no scheduler replies"),
    ):
        with pytest.raises(InputError, match=message):
            carry_out(small(replications=1), store, where)
    with pytest.raises(InputError, match="share a directory"):
        carry_out(small(replications=1), open_store("memory://p/s"), Where(processes=2))
