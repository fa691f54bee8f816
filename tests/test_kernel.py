"""The comparison with the kernel's TCP: its cells, the stored results of the kernel, verdicts, and a few real runs."""

from __future__ import annotations

import dataclasses
import json
import threading
from pathlib import Path

import pytest

from conftest import Lightlag
from lightlag.emulation.namespaces import allowed
from lightlag_papers.validation.kernel import criteria, families, page, points, runs
from lightlag_papers.validation.kernel.criteria import Cell
from lightlag_papers.validation.kernel.points import PATTERNS, Point
from lightlag_papers.validation.kernel.runs import Kept, Observed

REFUSED = allowed()
needs_root = pytest.mark.skipif(REFUSED is not None, reason=f"{REFUSED}: run the tests as root to try real packets")


def transfer(name: str, *, sack: bool = True) -> Point:
    return Point(
        "pattern",
        name,
        "cubic",
        20,
        points.RATE,
        points.DEEP,
        sack=sack,
        drops=PATTERNS[name],
        segments=points.TRANSFER,
    )


def observed(retransmissions: int, timeouts: int, elapsed_s: float = 1.0) -> Observed:
    return Observed(144_800, elapsed_s, retransmissions, timeouts, late=0, packets=150)


def test_every_point_is_another_one_and_a_scenario() -> None:
    found = [*points.all_points(3), *families.every_family(3)]
    assert len({point.key for point in found}) == len(found)
    for name, drops in PATTERNS.items():
        assert list(drops) == sorted(set(drops)), name
        assert drops[0] >= 1
    assert {point.group for point in found} == {"pattern", "completion", "bulk", "family"}


def family(name: str, algorithm: str, rtt_ms: int) -> Point:
    places = [(point.name, point.algorithm, point.rtt_ms) for point in families.every_family(1)]
    return families.every_family(1)[places.index((name, algorithm, rtt_ms))]


def test_our_small_buffer_is_the_window_that_the_kernels_offers() -> None:
    # 5/8 of 65,536 less 1,440 are 39,520 bytes. After the handshake, 131 ms, 10, 20 and then 27.3 segments are sent in
    # each round of 132 ms: 300 need 12 rounds, and the last 25 segments 30 ms.
    point = family("receive buffer of 64 KiB", "cubic", 130)
    assert dict(point.path)["defaults.tcp.receive_buffer"] == "{ auto = { initial = '39520 B', max = '39520 B' } }"
    assert runs.simulated(point).elapsed_s == pytest.approx(1.68, abs=0.01)


def test_a_syn_that_is_lost_costs_a_timeout_and_an_application_that_writes_waits() -> None:
    lost = runs.simulated(family("SYN lost 2 times", "cubic", 130))
    assert (lost.retransmissions, lost.timeouts) == (0, 2)
    writes = family("writes", "cubic", 130)
    assert writes.writes is not None
    size, every = writes.writes
    # The last write comes after ceil(600 · 1448 / 60000) - 1 = 14 intervals, and needs at least half a round trip.
    assert runs.simulated(writes).elapsed_s > 14 * every + 0.065
    assert 15 * size > 600 * points.PAYLOAD > 14 * size


def test_a_family_is_checked_by_its_time_and_by_the_counts_of_any_run() -> None:
    point = family("outage of 4 s", "cubic", 130)
    kernel = (observed(70, 3, 9.0), observed(71, 3, 9.05))

    def cell(retransmissions: int, timeouts: int, elapsed_s: float) -> Cell:
        return Cell(point, kernel, (observed(retransmissions, timeouts, elapsed_s),))

    assert not cell(71, 3, 9.1).is_outside
    assert cell(72, 3, 9.1).is_outside
    assert cell(71, 3, 9.2).is_outside
    found = criteria.verdicts([cell(71, 3, 9.1)] * 19 + [cell(72, 3, 9.1)])
    assert [verdict.found for verdict in found] == ["20 of 20, 100.0%", "19 of 20, 95.0%"]
    assert all(verdict.holds for verdict in found)
    assert not all(verdict.holds for verdict in criteria.verdicts([cell(71, 3, 9.1)] * 18 + [cell(72, 3, 9.1)]))
    flow = family("thin return link", "cubic", 130)
    late, punctual = dataclasses.replace(observed(5, 0), late=9), observed(1, 0)
    (judged,) = criteria.cells({flow: [late, punctual]}, {flow: (observed(1, 0),)})
    assert judged.kernel == (punctual,)
    assert Cell(flow, (observed(1, 0, 1.0),), (observed(9, 0, 1.06),)).is_outside
    assert not Cell(flow, (observed(1, 0, 1.0),), (observed(9, 0, 1.04),)).is_outside
    text = page.kernel_page([cell(72, 3, 9.1), Cell(flow, (observed(1, 0),), (observed(9, 0),))]).text()
    assert "| outage of 4 s | cubic | 130 ms | 9025 (+75) 72/3 : 70/3, 71/3 |" in text
    assert "1 of 2 cells are inside: goodput 1.000 to 1.000 of the kernel's." in text


def test_a_simulated_transfer_loses_the_segments_of_its_pattern() -> None:
    assert runs.simulated(transfer("single")).retransmissions == 1
    assert runs.simulated(transfer("sparse")).retransmissions == 9
    lost = runs.simulated(transfer("repair lost"))
    assert lost.retransmissions == 2
    assert lost.bytes == 144_800


def test_a_cell_compares_with_what_most_of_the_kernels_runs_say() -> None:
    kernel = (observed(2, 1), observed(1, 0), observed(1, 0))
    cell = Cell(transfer("single"), kernel, (observed(1, 0),))
    assert cell.counts == (1, 0)
    assert cell.same_counts
    assert not cell.repeats_itself
    assert not Cell(transfer("single"), kernel, (observed(1, 1),)).same_counts


def test_a_completion_is_in_time_within_a_hundredth_or_ten_milliseconds() -> None:
    point = dataclasses.replace(transfer("single"), group="completion", drops=())

    def in_time(kernel_s: float, ours_s: float) -> bool:
        return Cell(point, (observed(0, 0, kernel_s),), (observed(0, 0, ours_s),)).in_time

    assert in_time(0.1, 0.1099)
    assert not in_time(0.1, 0.1101)
    assert in_time(2.0, 1.9801)
    assert not in_time(2.0, 1.9799)
    apart = tuple(dataclasses.replace(observed(0, 0, s), late=late) for s, late in ((2.0, 0), (2.2, 0), (9.0, 100)))
    assert Cell(point, apart, (observed(0, 0, 2.1),)).in_time
    assert not Cell(point, apart, (observed(0, 0, 2.3),)).in_time


def test_a_transfer_is_in_time_where_a_phase_of_it_is() -> None:
    kernel = (observed(1, 0, 2.0), observed(1, 0, 2.1))
    cell = Cell(transfer("tail 2"), kernel, (observed(1, 0, 2.2), observed(1, 0, 2.12)))
    assert cell.in_time
    assert cell.depends_on_phase
    assert cell.our_span_s == (2.12, 2.2)
    assert not Cell(transfer("tail 2"), kernel, (observed(1, 0, 2.2), observed(1, 0, 2.13))).in_time
    assert not Cell(transfer("tail 2"), kernel, (observed(1, 0, 1.95), observed(1, 0, 1.97))).in_time


def test_a_pattern_is_simulated_at_every_phase_of_the_ticks() -> None:
    point = dataclasses.replace(transfer("tail 2"), rtt_ms=200)
    (found,) = runs.simulate([point], lambda text: None).values()
    assert len(found) == runs.PHASES
    assert {run.retransmissions for run in found} == {2}
    times_s = [run.elapsed_s for run in found]
    # The probe waits for a step of 32 ms, which each phase meets at another time.
    assert 0.02 < max(times_s) - min(times_s) < 0.04


def test_the_completion_time_covers_the_runs_that_were_disturbed_least() -> None:
    kernel = tuple(dataclasses.replace(observed(0, 0, s), late=late) for s, late in ((2.4, 3), (2.3, 0), (2.5, 6)))
    assert Cell(transfer("first"), kernel, (observed(0, 0),)).kernel_s == 2.3
    assert Cell(transfer("first"), (*kernel, observed(0, 0, 2.1)), (observed(0, 0),)).kernel_s == pytest.approx(2.2)


def test_every_criterion_has_its_verdict() -> None:
    same = [Cell(transfer("first"), (observed(1, 0),), (observed(1, 0),)) for _ in range(19)]
    other = Cell(transfer("tail 1"), (observed(1, 0),), (observed(1, 1),))
    assert [verdict.holds for verdict in criteria.verdicts([*same, other])] == [True, True]
    assert [verdict.holds for verdict in criteria.verdicts([*same[1:], other])] == [False, True]
    late = Cell(transfer("tail 2"), (observed(1, 0),), (observed(1, 0, 1.02),))
    assert [verdict.holds for verdict in criteria.verdicts([*same, late])] == [True, True]
    assert [verdict.holds for verdict in criteria.verdicts([*same[1:], late])] == [True, False]
    assert late.is_outside
    bulk = [point for point in points.bulk(("reno",), (20,), 2) if point.name == "loss 0.001" and point.sack]
    kernel = {point: [observed(5, 0)] for point in bulk}
    found = criteria.cells(kernel, {point: (observed(5, 0, 0.94),) for point in bulk})
    assert len(found) == 1, "seeds are one cell"
    assert found[0].ratio == pytest.approx(1 / 0.94)
    assert [verdict.holds for verdict in criteria.verdicts(found)] == [False, False]


def test_a_mean_over_seeds_is_compared_by_its_standard_error() -> None:
    (first, *rest) = [
        point for point in points.bulk(("bbr",), (20,), 2) if point.name == "loss 0.001" and not point.sack
    ]
    assert first.is_chaotic
    assert len(rest) == points.CHAOTIC_SEEDS - 1
    sizes = (100, 120, 100, 120)
    kernel = tuple(dataclasses.replace(observed(1, 0), bytes=100) for _ in sizes)
    ours = tuple(dataclasses.replace(observed(1, 0), bytes=size) for size in sizes)
    cell = Cell(first, kernel, ours)
    assert cell.ratio == pytest.approx(1.1)
    assert cell.error == pytest.approx(0.1155 / 2, rel=1e-3)
    assert not cell.deviates
    assert criteria.verdicts([cell])[-1].found == "0 of 1 inside, 1 within the errors; worst 10.0%"
    assert Cell(first, kernel[:1], ours[1:2]).deviates


def test_of_a_bulk_flow_the_run_in_the_middle_counts() -> None:
    point = next(point for point in points.all_points(1) if point.group == "bulk")
    slow, usual, fast = (dataclasses.replace(observed(1, 0), bytes=size) for size in (10, 90, 100))
    (cell,) = criteria.cells({point: [fast, slow, usual]}, {point: (usual,)})
    assert (cell.kernel, cell.ratio) == ((usual,), 1)


def test_with_few_losses_the_run_nearest_to_ours_counts() -> None:
    every = [point for point in points.bulk(("cubic",), (600,), 1) if point.name == "loss 0.001" and point.sack]
    assert len(every) == points.FEW_LOSSES_SEEDS
    assert every[0].has_few_losses
    one, other = (dataclasses.replace(observed(1, 0), bytes=size) for size in (1000, 1300))
    ours = dataclasses.replace(one, bytes=1005)
    (cell,) = criteria.cells({every[0]: [other, other, one]}, {every[0]: (ours,)})
    assert cell.kernel == (one,)
    assert cell.same_goodputs == 1
    (cell,) = criteria.cells({every[0]: [other]}, {every[0]: (ours,)})
    assert cell.same_goodputs == 0
    assert cell.deviates


def test_the_page_names_what_differs() -> None:
    found = [
        Cell(transfer("first"), (observed(1, 0),), (observed(1, 0),)),
        Cell(transfer("tail 1", sack=False), (observed(1, 0, 1.3), observed(2, 0)), (observed(1, 1, 1.5),)),
    ]
    written = page.kernel_page(found)
    text = written.text()
    assert "| tail 1 | cubic | 20 ms | no | 1/0, 2/0 | 1/1 |" in text
    assert "| tail 1 | cubic | 20 ms | no | 1000–1300 | 1500 |" in text
    assert text.count("1 of 2, 50.0% | **does not hold** |") == 2
    assert "In 1 of 2 cells all runs of the kernel agree" in text
    assert written.result == "0 of 2 criteria hold."


def test_runs_of_the_kernel_are_kept_and_a_broken_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "kernel.jsonl"
    Kept(path).add("one", observed(1, 0))
    with path.open("a") as file:
        file.write('{"about": "torn')
    Kept(path).add("two", observed(2, 0))
    assert Kept(path).found == {"one": observed(1, 0), "two": observed(2, 0)}
    foreign = [
        json.loads(line) | {"about": "another kernel"} for line in path.read_text().splitlines() if '"one"' in line
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in foreign))
    assert Kept(path).found == {}
    Kept(path, forget=True)
    assert not path.exists()


def test_what_was_measured_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def real(point: Point, stopped: threading.Event) -> Observed:
        if len(asked) == 3:
            raise KeyboardInterrupt
        asked.append(point.name)
        return observed(1, 0)

    monkeypatch.setattr(runs, "real", real)
    wanted = [transfer(name) for name in ("first", "single", "pair")]
    with pytest.raises(KeyboardInterrupt):
        runs.measure(wanted, 2, Kept(tmp_path / "k"), 1, lambda _: None)
    assert asked == ["first", "first", "single"]
    asked.clear()
    found = runs.measure(wanted, 2, Kept(tmp_path / "k"), 1, lambda _: None)
    assert asked == ["single", "pair", "pair"]
    assert found == {point: [observed(1, 0)] * 2 for point in wanted}


def test_a_run_that_was_late_is_repeated_and_the_best_one_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = iter((30, 10, 0, 20, 12, 40, 11, 0))

    def real(point: Point, stopped: threading.Event) -> Observed:
        return dataclasses.replace(observed(1, 0), late=next(late))

    monkeypatch.setattr(runs, "real", real)
    wanted = [transfer("first"), transfer("pair")]
    found = runs.measure(wanted, 1, Kept(tmp_path / "k"), 1, lambda _: None)
    assert [found[point][0].late for point in wanted] == [0, 11], "the third was in time; of four none was"
    assert next(late) == 0, "and no more were tried"
    assert not dataclasses.replace(observed(1, 0), late=1).is_late
    assert dataclasses.replace(observed(1, 0), late=2).is_late


def test_no_cell_of_that_name(lightlag: Lightlag, tmp_path: Path) -> None:
    done = lightlag("validate", "kernel", "--only", "flowers", "--out", str(tmp_path / "pages"))
    assert done.returncode == 2
    assert 'contains "flowers"' in done.stderr


@needs_root
def test_the_kernel_and_ours_meet_the_same_buffer_and_the_same_pauses(tmp_path: Path) -> None:
    wanted = [family("receive buffer of 64 KiB", "cubic", 35), family("writes", "cubic", 35)]
    for point, (its, *_) in runs.measure(wanted, 1, Kept(tmp_path / "k"), 1, lambda _: None).items():
        ours = runs.simulated(point)
        assert (its.retransmissions, its.timeouts) == (ours.retransmissions, ours.timeouts) == (0, 0)
        # A busy machine makes the kernel later, never earlier.
        assert its.elapsed_s > ours.elapsed_s - 0.02


@needs_root
def test_the_kernel_and_ours_lose_the_same_packets(tmp_path: Path) -> None:
    point = transfer("sparse")
    found = runs.measure([point], 1, Kept(tmp_path / "k"), 1, lambda _: None)[point][0]
    assert found.bytes == points.TRANSFER * points.PAYLOAD
    assert found.retransmissions == runs.simulated(point).retransmissions == len(point.drops)
    assert found.packets > points.TRANSFER
