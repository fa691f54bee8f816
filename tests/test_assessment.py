"""``lightlag validate congestion``: outcomes that theory predicts, the files, and invalid input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lightlag.validation
from lightlag import _signals
from lightlag.cli.app import app
from lightlag.errors import InputError, Interrupted, ScenarioError
from lightlag.validation import Assessment, assessment, response, theory
from lightlag.validation.invariants import broken


@pytest.fixture(scope="module")
def newreno() -> Assessment:
    """NewReno, with a custom response function: Mathis et al."""
    own = lambda p, _: theory.mathis(p)  # noqa: E731
    wanted = ("response", "itself", "cubic", "queue")
    return lightlag.validation.congestion("newreno", replications=2, sections=wanted, response=own)


def test_newreno_responds_as_in_mathis(newreno: Assessment) -> None:
    section = newreno.section("response")
    assert section is not None
    # Mathis et al. 1997: the window is proportional to p^-0.5. Runs at 500 ms have few losses.
    for slope, tolerance in zip(section.figures["slopes"], (0.06, 0.06, 0.15), strict=True):
        assert slope["slope"] == pytest.approx(-0.5, abs=tolerance)
    # Random distances add 4 to 10 % (docs/validation/algorithms.md).
    frequent = [row for row in section.rows if row["p"] >= 1e-3 and row["rtt_s"] < 0.5]
    assert len(frequent) == 6
    assert all(row["deviation_reno"] == pytest.approx(0.05, abs=0.15) for row in frequent)
    assert all(row["own_segments"] == pytest.approx(row["reno_segments"]) for row in section.rows)
    assert section.holds is all(abs(row["deviation_own"]) <= 0.05 for row in section.rows)


def test_newreno_is_fair_to_itself(newreno: Assessment) -> None:
    table = newreno.tables["itself"]
    assert table["flows"].to_list() == [2, 4, 8]
    assert table["jain"].min() > 0.8  # type: ignore[operator]


def test_a_share_against_its_own_kind_is_half() -> None:
    found = lightlag.validation.congestion("cubic", replications=6, scale=0.5, sections=["cubic"])
    for share, half in found.tables["cubic"].select("share", "share_half_width").rows():
        assert abs(share - 0.5) <= half


def test_cubic_takes_more_than_newreno(newreno: Assessment) -> None:
    # Beyond the Reno-friendly region CUBIC grows faster (RFC 9438 §4.3); a queue makes the round trip longer.
    shares = newreno.tables["cubic"]["share"].to_list()
    assert all(share < 0.5 for share in shares)


def test_a_longer_queue_holds_more_of_a_loss_based_flow(newreno: Assessment) -> None:
    table = newreno.tables["queue"]
    delays = table["delay_mean_s"].to_list()
    assert delays == sorted(delays)
    # A queue of 4 BDP at a round trip of 50 ms delays packets by no more than 200 ms.
    assert 0.05 < delays[-1] < 0.2
    assert (table["utilisation"] > 0.7).all()


def test_the_shorter_round_trip_has_more() -> None:
    found = lightlag.validation.congestion("newreno", replications=2, scale=0.5, sections=["rtt"])
    double, six = found.tables["rtt"]["goodput_ratio"].to_list()
    assert six > 1.5
    assert six > double


def test_every_run_keeps_the_invariants(newreno: Assessment) -> None:
    section = newreno.section("invariants")
    assert section is not None
    assert section.holds is True
    assert sum(row["runs"] for row in section.rows) == 2 * (18 + 3 + 3 + 5)
    assert all(row["repeats"] for row in section.rows)


def test_a_flow_that_stalls_is_named() -> None:
    net = lightlag.Network("outage", record=lightlag.scenario.Record(trace="sampled", queueing=True))
    changes = [{"at": "5 s", "loss": 1.0}]
    net.link("client", "server", rate="5 Mbit/s", delay="10 ms", changes=changes)
    net.flow("client", "server")
    assert any("nothing arrives" in line for line in broken(lightlag.run(net, duration="30 s")))


def test_results_do_not_depend_on_jobs() -> None:
    one, two = (
        lightlag.validation.congestion("bbr", replications=1, jobs=jobs, scale=0.2, sections=["rtt"]).record()
        for jobs in (1, 2)
    )
    assert one == two


def test_a_table_is_a_congestion_control() -> None:
    text = '{ algorithm = "cubic", variant = "rfc8312" }'
    found = lightlag.validation.congestion(text, replications=1, scale=0.2, sections=["rtt"])
    assert found.congestion == 'cubic (variant = "rfc8312")'
    assert len(found.tables["rtt"]) == 2


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"replications": 0}, "replications"),
        ({"jobs": "two"}, "jobs"),
        ({"scale": float("nan")}, "scale"),
        ({"seed": -1}, "seed"),
        ({"sections": ["loss"]}, "sections"),
    ],
)
def test_wrong_numbers_are_named(options: dict[str, object], part: str) -> None:
    with pytest.raises(InputError, match=part):
        lightlag.validation.congestion("cubic", **options)  # type: ignore[arg-type]


def test_an_unknown_algorithm_is_rejected_with_the_nearest_name() -> None:
    with pytest.raises(ScenarioError, match='did you mean "cubic"'):
        lightlag.validation.congestion("cubicc")


def test_finished_sections_survive_an_interruption(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The signal comes when the two runs of the first section are over.
    counts: list[int] = []
    monkeypatch.setattr(_signals, "asked", lambda: bool(counts) and counts[-1] >= 2)
    with pytest.raises(Interrupted) as caught:
        lightlag.validation.congestion(
            "newreno",
            replications=1,
            jobs=1,
            scale=0.1,
            sections=["rtt", "queue"],
            progress=lambda done, _: counts.append(done),
        )
    found = caught.value.result
    assert isinstance(found, Assessment)
    assert [one.name for one in found.sections] == ["rtt"]
    monkeypatch.undo()
    found.save(tmp_path / "half")
    assert "1 of 3 sections" in (tmp_path / "half" / "page.md").read_text("utf-8")


def test_the_command_writes_page_figures_and_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = lightlag.validation.congestion

    def short(value: str, **options: object) -> Assessment:
        return whole(value, scale=0.1, sections=["cubic", "queue"], **options)  # type: ignore[arg-type]

    monkeypatch.setattr(lightlag.validation, "congestion", short)
    out = tmp_path / "page"
    arguments = ["validate", "congestion", "hybla", "-n", "1", "--out", str(out)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "Fairness to CUBIC" in done.output
    names = {"page.md", "assessment.json", "run.json", "cubic.svg", "cubic.pdf", "queue.svg", "queue.pdf"}
    assert {path.name for path in out.iterdir()} == names
    plain = json.loads((out / "assessment.json").read_text("utf-8"))
    assert plain["complete"]
    assert list(plain["sections"]) == ["cubic", "queue", "invariants"]
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 2
    assert "--force" in again.output
    assert CliRunner().invoke(app, [*arguments, "--force", "--quiet"]).exit_code == 0


def test_the_command_needs_a_name() -> None:
    done = CliRunner().invoke(app, ["validate", "congestion"])
    assert done.exit_code == 2
    assert "lightlag validate congestion cubic" in done.output


def test_constants_match_the_page() -> None:
    assert (response.ROOM, response.SETTLED, response.TOLERANCE, response.LIMITED) == (4, 0.4, 0.05, 0.9)
    assert assessment.REPLICATIONS == 3
    assert not _signals.asked()
