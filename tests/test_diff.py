"""Two results or scenarios side by side: the input, the measures, the pairs, and the command."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import lightlag as ll
from conftest import PAIR, pair
from lightlag.cli.app import app
from lightlag.comparison.comparison import Comparison
from lightlag.outcomes.pairing import paired
from lightlag.scenario import read_scenario
from lightlag.scenario.changed import ABSENT, changes

# --- pairs of runs ----------------------------------------------------------------------------------------------------


def runs(values: dict[int, float | None], congestion: str = "cubic", **more: Any) -> pl.DataFrame:
    """A run for each seed with its goodput."""
    rows = {"congestion": congestion, "seed": list(values), "goodput_bps": list(values.values())} | more
    return pl.DataFrame(rows, schema_overrides={"goodput_bps": pl.Float64})


def test_differences_are_paired_by_seed() -> None:
    a, b = runs({1: 10.0, 2: 20.0, 3: 30.0}), runs({3: 36.0, 2: 22.0, 1: 11.0})
    (row,) = paired(a, b, ["congestion"], ["goodput_bps"]).to_dicts()
    # Differences 1, 2, 6: mean 3, variance (4 + 1 + 9) / 2 = 7, t(2) = 4.302653.
    assert (row["pairs"], row["a"], row["b"], row["difference"]) == (3, 20.0, 23.0, 3.0)
    assert row["half_width"] == pytest.approx(4.302653 * math.sqrt(7 / 3), rel=1e-6)
    assert row["relative"] == pytest.approx(0.15)
    assert row["effect_size"] == pytest.approx(3 / math.sqrt(7))


def test_values_without_a_partner_are_counted() -> None:
    a, b = runs({1: 10.0, 2: None, 3: math.nan, 4: 7.0}), runs({1: 12.0, 2: 5.0, 3: None, 9: 1.0, 8: 1.0})
    (row,) = paired(a, b, ["congestion"], ["goodput_bps"]).to_dicts()
    assert (row["pairs"], row["only_a"], row["only_b"]) == (1, 1, 3)
    assert (row["difference"], row["half_width"], row["effect_size"]) == (2.0, None, None)


def test_equal_differences_have_no_spread() -> None:
    # Rounding errors as in 0.1 + 0.2 are not a spread either.
    a = runs(dict.fromkeys(range(10), 0.1))
    (row,) = paired(a, runs(dict.fromkeys(range(10), 0.3)), ["congestion"], ["goodput_bps"]).to_dicts()
    assert row["difference"] == pytest.approx(0.2)
    assert (row["half_width"], row["effect_size"]) == (None, None)
    (row,) = paired(a.with_columns(goodput_bps=0.0), a, ["congestion"], ["goodput_bps"]).to_dicts()
    assert row["relative"] is None


def test_cells_are_those_that_both_have_in_the_order_of_the_first() -> None:
    a = pl.concat([runs({1: 1.0}, name, loss=0.1) for name in ("hybla", "cubic", "bbr")])
    b = pl.concat([runs({1: 2.0}, name, loss=0.1) for name in ("cubic", "hybla", "vegas")])
    found = paired(a, b, ["congestion", "loss"], ["goodput_bps"])
    assert found["congestion"].to_list() == ["hybla", "cubic"]
    assert paired(a, runs({1: 1.0}, loss=0.2), ["congestion", "loss"], ["goodput_bps"]).is_empty()
    assert paired(a.clear(), b, ["congestion", "loss"], ["goodput_bps"]).is_empty()


def test_pairs_must_be_clear() -> None:
    twice = pl.concat([runs({1: 1.0}), runs({1: 2.0})])
    with pytest.raises(ll.InputError, match="b: has several runs of one seed in a cell"):
        paired(runs({1: 1.0}), twice, ["congestion"], ["goodput_bps"])
    with pytest.raises(ll.InputError, match="a: has no column loss; there are congestion, seed"):
        paired(runs({1: 1.0}), runs({1: 1.0}), ["congestion", "loss"], ["goodput_bps"])


# --- scenarios --------------------------------------------------------------------------------------------------------


def test_keys_are_those_that_set_takes() -> None:
    found = ll.diff("geo", "leo")
    assert found.kind == "scenario"
    assert {change.key for change in found.input} >= {"links.1.delay", "links.1.rate", "flows.0.transfer", "name"}
    plain = [change for change in found.input if isinstance(change.b, (str, int, float))]
    sets = [(change.key, change.b if isinstance(change.b, str) else json.dumps(change.b)) for change in plain]
    left = changes(json.loads(read_scenario("geo", sets).json()), json.loads(read_scenario("leo").json()))
    assert [change.key for change in left] == ["links.1.changes"]
    assert left[0].a is ABSENT
    assert (found.frame, found.hashes, found.rows()) == (None, None, [])


def test_an_explicit_default_is_not_a_difference(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(PAIR)
    (tmp_path / "b.toml").write_text(PAIR.replace('"20 ms"', '"0.02 s"') + 'start = "0 s"\n')
    found = ll.diff(tmp_path / "a.toml", tmp_path / "b.toml")
    assert found.is_equal
    assert found.notes() == ["the input is the same"]


def test_entries_of_lists_belong_together_by_name() -> None:
    def scenario(*flows: tuple[str, str], rate: str = "1 Mbit/s") -> dict[str, Any]:
        links = [{"between": ["a", "b"], "rate": rate}, {"between": ["b", "c"], "rate": "1 Mbit/s"}]
        return {"links": links, "flows": [{"name": name, "transfer": size} for name, size in flows]}

    one = scenario(("x", "1 MB"), ("y", "2 MB"), ("z", "3 MB"))
    other = scenario(("y", "5 MB"), ("x", "1 MB"), ("w", "3 MB"), rate="2 Mbit/s")
    other["links"].reverse()
    found = [(change.key, change.a, change.b, change.key_b) for change in changes(one, other)]
    assert found == [
        ("links.0.rate", "1 Mbit/s", "2 Mbit/s", "links.1.rate"),
        ("links (order)", ["a->b", "b->c"], ["b->c", "a->b"], None),
        ("flows.1.transfer", "2 MB", "5 MB", "flows.0.transfer"),
        ("flows.2", {"name": "z", "transfer": "3 MB"}, ABSENT, None),
        ("flows.2", ABSENT, {"name": "w", "transfer": "3 MB"}, None),
        ("flows (order)", ["x", "y"], ["y", "x"], None),
    ]


def test_entries_without_names_are_matched_by_index() -> None:
    two = {"flows": [{"from": "a", "to": "b", "start": "0 s"}] * 2}
    other = {"flows": [{"from": "a", "to": "b", "start": "0 s"}, {"from": "a", "to": "b", "start": "1 s"}]}
    assert [change.key for change in changes(two, other)] == ["flows.1.start"]


def test_true_is_not_one() -> None:
    assert len(changes({"sack": True}, {"sack": 1})) == 1
    assert not changes({"loss": 0.0}, {"loss": 0})


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the runs a, b and same; the comparisons ca, cb and cv; and the studies sa and sb."""
    folder = tmp_path_factory.mktemp("folders")
    loss: dict[str, Any] = {"links.0.loss": 0.01}
    short: dict[str, Any] = {"duration": "30 s"}
    ll.run(pair(), seed=3, **short).save(folder / "a")
    ll.run(pair(), seed=3, **short).save(folder / "same")
    ll.run(pair(), seed=4, sets=loss, **short).save(folder / "b")
    bare: dict[str, Any] = {"formats": (), "report": False}
    ll.compare(pair(), ["cubic", "newreno"], replications=3, **short).save(folder / "ca", **bare)
    ll.compare(pair(), ["newreno", "hybla"], replications=4, seed=2, sets=loss, **short).save(folder / "cb", **bare)
    vary = {"links.0.delay": ["20 ms", "50 ms"]}
    ll.compare(pair(), ["cubic"], vary=vary, replications=2, **short).save(folder / "cv", **bare)
    for name, delays, replications in (("sa", ["20 ms", "50 ms"], 3), ("sb", ["0.05 s", "80 ms"], 2)):
        study: dict[str, Any] = {"vary": {"links.0.delay": delays}, "replications": replications, "set": short}
        ll.Study(pair(), congestion=["cubic", "bbr"], **study).run(folder / name, progress=False)
    return folder


def test_flows_of_two_runs_are_compared(folders: Path) -> None:
    found = ll.diff(folders / "a", folders / "b")
    assert [(change.key, change.a, change.b) for change in found.input] == [
        ("links.0.loss", 0.001, 0.01),
        ("seed", 3, 4),
    ]
    a, b = ll.load(folders / "a").summary["flows"][0], ll.load(folders / "b").summary["flows"][0]
    assert found.frame is not None
    rows = {row["measure"]: row for row in found.frame.to_dicts()}
    assert set(rows) == {
        *("goodput_bps", "completion_s", "mean_rtt_s", "retransmitted_share", "timeouts", "queue_packets"),
    }
    goodput = rows["goodput_bps"]
    assert (goodput["a"], goodput["b"]) == (a["goodput_bps"], b["goodput_bps"])
    assert goodput["relative"] == pytest.approx(b["goodput_bps"] / a["goodput_bps"] - 1)
    assert rows["retransmitted_share"]["b"] == b["retransmitted_segments"] / b["sent_segments"]
    assert not found.is_equal
    assert "the results differ" in found.notes()
    assert found.rows()[0]["A"].endswith("Mbit/s")
    assert found.rows()[0]["relative"].startswith("-")


def test_equal_runs_are_equal(folders: Path) -> None:
    found = ll.diff(folders / "a", ll.load(folders / "same"))
    assert found.is_equal
    assert found.hashes is not None
    assert len(set(found.hashes)) == 1
    assert found.notes() == ["the input is the same", "the results are the same"]
    assert {row["difference"].split()[0] for row in found.rows()} == {"0"}


def test_flows_of_one_run_alone_are_named() -> None:
    net = pair()
    net.flow("server", "client", transfer="10 kB", name="back")
    found = ll.diff(ll.run(pair(), duration="20 s"), ll.run(net, duration="20 s"))
    assert "flows of B alone: back" in found.notes()
    assert found.frame is not None
    back = found.frame.filter(flow="back", measure="goodput_bps").to_dicts()[0]
    assert (back["a"], back["difference"], back["only_b"]) == (None, None, True)
    assert next(row["A"] for row in found.rows() if row["flow"] == "back") == "–"
    assert found.a.name == "pair"


def test_only_twenty_flows_are_shown() -> None:
    many = ll.run(ll.presets.dumbbell(pairs=22, stagger="0 s", duration="1 s"), seed=1)
    found = ll.diff(many, many)
    assert len({row["flow"] for row in found.rows()}) == 20
    assert "and 2 more flows; --json has all" in found.notes()
    assert len({row["flow"] for row in found.to_json()["measures"]}) == 22


def test_a_version_is_input(folders: Path, tmp_path: Path) -> None:
    for name in ("a", "ca"):
        older = tmp_path / name
        older.mkdir()
        for path in (folders / name).iterdir():
            (older / path.name).write_bytes(path.read_bytes())
        about = json.loads((older / "run.json").read_text())
        (older / "run.json").write_text(json.dumps(about | {"version": "0.0.9"}))
        found = ll.diff(older, folders / name)
        assert [(change.key, change.a) for change in found.input] == [("version", "0.0.9")]
        assert not found.is_equal


# --- comparisons ------------------------------------------------------------------------------------------------------


def test_comparisons_are_paired_by_algorithm_point_and_seed(folders: Path) -> None:
    found = ll.diff(folders / "ca", folders / "cb")
    assert [change.key for change in found.input] == ["algorithms", "seed", "replications", "links.0.loss"]
    assert found.frame is not None
    assert found.frame["congestion"].unique().to_list() == ["newreno"]
    # Seeds 1 to 3, and 2 to 5.
    row = found.frame.filter(measure="goodput_bps").to_dicts()[0]
    assert (row["pairs"], row["only_a"], row["only_b"]) == (2, 1, 2)
    sides = ll.load_comparison(folders / "ca"), ll.load_comparison(folders / "cb")
    a, b = ({one.seed: one.goodput_bps for one in side.of("newreno")} for side in sides)
    assert row["difference"] == pytest.approx((b[2] - a[2] + b[3] - a[3]) / 2)
    assert found.pairs is not None
    assert (found.pairs.count, found.pairs.same, found.pairs.only_a, found.pairs.only_b) == (2, 0, 4, 6)


def test_a_comparison_equals_itself(folders: Path) -> None:
    found = ll.diff(folders / "cv", ll.load_comparison(folders / "cv"))
    assert found.is_equal
    assert found.notes()[-1] == "4 runs of A and B form pairs, 4 with equal results"
    assert found.rows()[0]["delay"] == "20 ms"
    assert "jain fairness" not in {row["measure"] for row in found.rows()}


def test_values_of_variables_are_quantities() -> None:
    def compared(*delays: str) -> Comparison:
        return ll.compare(pair(), ["cubic"], vary={"links.0.delay": delays}, replications=1, duration="9 s")

    found = ll.diff(compared("20 ms", "50 ms"), compared("0.05 s", "90 ms"))
    assert found.frame is not None
    assert found.frame["delay"].unique().to_list() == ["50 ms"]
    assert found.pairs is not None
    assert (found.pairs.count, found.pairs.same) == (1, 1)
    assert [change.key for change in found.input] == ["vary.links.0.delay"]


def test_comparisons_that_vary_other_keys_have_no_pairs(folders: Path) -> None:
    found = ll.diff(folders / "ca", folders / "cv")
    assert found.rows() == []
    assert "none has the same algorithm, point and seed" in found.notes()[-1]
    assert not found.is_equal


def test_studies_are_paired_like_comparisons(folders: Path) -> None:
    found = ll.diff(folders / "sa", folders / "sb")
    assert found.kind == "study"
    assert [change.key for change in found.input] == ["vary.links.0.delay", "replications"]
    # 50 ms and 0.05 s are the same cell: two algorithms with the two seeds that both have.
    assert found.pairs is not None
    assert (found.pairs.count, found.pairs.same) == (4, 4)
    assert (found.pairs.only_a, found.pairs.only_b) == (8, 4)
    assert found.frame is not None
    goodput = found.frame.filter(measure="goodput_bps")
    assert goodput.select("congestion", "delay", "pairs", "difference").rows() == [
        ("bbr", "50 ms", 2, 0.0),
        ("cubic", "50 ms", 2, 0.0),
    ]
    same = ll.diff(ll.open_study(folders / "sa"), folders / "sa")
    assert same.is_equal


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def call(folders: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.chdir(folders)
    return CliRunner()


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [("a", "b", "run"), ("ca", "cb", "comparison"), ("sa", "sb", "study"), ("geo", "leo", "scenario")],
)
def test_diff_prints_tables_or_one_json_object(call: CliRunner, a: str, b: str, kind: str) -> None:
    done = call.invoke(app, ["diff", a, b])
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"A: {a}, B: {b}" in done.stdout
    plain = json.loads(call.invoke(app, ["diff", a, b, "--json"]).stdout)
    assert (plain["kind"], plain["equal"], plain["a"]["name"]) == (kind, False, a)
    assert plain["input"]
    assert ("measures" in plain) == (kind != "scenario")


def test_the_exit_code_matches_git_diff(call: CliRunner) -> None:
    assert call.invoke(app, ["diff", "a", "b", "--exit-code"]).exit_code == 1
    assert call.invoke(app, ["diff", "a", "same", "--exit-code"]).exit_code == 0
    assert call.invoke(app, ["diff", "geo", "geo", "--exit-code"]).exit_code == 0


@pytest.mark.parametrize(
    ("a", "b", "parts"),
    [
        ("a", "ca", ("a is a run", "ca a comparison", "two results directories")),
        ("ca", "sa", ("ca is a comparison", "sa a study")),
        ("ca", "geo", ("ca is a comparison", "geo a scenario")),
        ("geo", "a", ("geo is a scenario", "a a run")),
        ("a", "nowhere", ("nowhere: no such file",)),
        ("a", ".", (".: is not a results directory",)),
        ("geo", "b/flows.parquet", ("flows.parquet",)),
        ("geo", "x" * 300, ("xxx",)),
    ],
)
def test_what_cannot_be_compared_is_one_error(call: CliRunner, a: str, b: str, parts: tuple[str, ...]) -> None:
    done = call.invoke(app, ["diff", a, b])
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    for part in parts:
        assert part in done.stderr


def test_python_takes_scenarios_in_any_form(pair_file: Path) -> None:
    assert ll.diff(pair_file, tomllib.loads(PAIR)).is_equal
    with pytest.raises(ll.InputError, match="is not a scenario"):
        ll.diff(pair_file, 7)  # type: ignore[arg-type]
