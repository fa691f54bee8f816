"""Reschka et al. 2010, run again: the model, and the checks that the paper's card lists."""

from __future__ import annotations

import json

import pytest

from lightlag import _engine
from lightlag_papers import PAPERS, Verdict
from lightlag_papers.inet_tcp import bit_errors, model, sack_option, slow_reader
from lightlag_papers.paper import Effort

pytestmark = pytest.mark.long

SEGMENT_S = 0.0012
LOSSLESS = model.Link(SEGMENT_S, 0.0, 45)


@pytest.mark.parametrize("sack", [False, True])
def test_the_model_fills_a_lossless_link(sack: bool) -> None:
    run = model.simulate(LOSSLESS, seconds=12, sack=sack, seed=1)
    # One segment every 1.2 ms, starting immediately.
    assert run.delivered == pytest.approx(10_000, abs=1)
    assert run.timeouts == 0


@pytest.mark.parametrize("sack", [False, True])
def test_the_model_delivers_in_order_whatever_is_lost(sack: bool) -> None:
    for seed in range(1, 4):
        lossy = model.simulate(model.Link(SEGMENT_S, 0.05, 45), seconds=60, sack=sack, seed=seed)
        # PFTK with a timeout of 1 s and no round-trip time: 1 / (0.41 · 0.05 · 1.08) = 45 segments per second, 2700.
        assert 1800 < lossy.delivered < 7000
        assert 40 < lossy.timeouts < 60


def test_the_model_repairs_a_single_loss_without_a_timeout() -> None:
    for sack in (False, True):
        sender, receiver = model.Sender(45, sack), model.Receiver()
        queue, lost, now = sender.acknowledged(0.0, 0, set()), False, 0.0
        while receiver.expected < 2000:
            segment = queue.pop(0)
            now += SEGMENT_S
            if segment == 1000 and not lost:
                lost = True
                continue
            receiver.take(segment)
            queue += sender.acknowledged(now, receiver.expected, receiver.above)
        # Half of the 45 outstanding, followed by congestion avoidance.
        assert sender.timeouts == 0
        assert 22.5 <= sender.ssthresh <= 23
        assert sender.cwnd > sender.ssthresh


def test_the_sack_option_of_the_first_figure_is_byte_exact() -> None:
    acks = sack_option.run()
    assert [ack.number for ack in acks] == [1000, 2000, 3000, 4000, 5000, 6000, 6000, 8000]
    assert [ack.hex for ack in acks[:6]] == [""] * 6
    assert acks[6].options == bytes([1, 1, 5, 10, 0, 0, 0x1B, 0x58, 0, 0, 0x1F, 0x40])
    assert acks[7].options == b""
    verdicts = [row.verdict for row in sack_option.rows(acks)]
    assert verdicts == [Verdict.REPRODUCED] * 3 + [Verdict.NOT_JUDGED]


def test_a_receiver_without_sack_reports_nothing() -> None:
    answers = _engine.answers('{"profile": "inet"}', [(0, 1000), (2000, 1000)])
    assert [(number, options) for number, _, options in answers] == [(1000, b""), (1000, b"")]


def test_a_receiver_reports_the_newest_block_first_with_timestamps() -> None:
    tcp = json.dumps({"profile": "linux"})
    *_, (number, _, options) = _engine.answers(tcp, [(0, 100), (200, 100), (400, 100)])
    assert number == 100
    assert options[:4] == bytes([1, 1, 8, 10])
    assert options[12:] == sack_option.option((400, 500), (200, 300))


def test_replies_reject_packets_other_than_tcp() -> None:
    with pytest.raises(ValueError, match="sacks"):
        _engine.answers('{"sacks": true}', [])
    with pytest.raises(ValueError, match="mss"):
        _engine.answers('{"mss": "1 B"}', [])


def test_a_full_frame_is_lost_as_often_as_in_the_reference() -> None:
    for ber, per in ((1e-7, 0.00120), (6e-7, 0.00717), (1e-6, 0.01193), (2e-6, 0.02371), (4e-6, 0.0469)):
        assert bit_errors.packet_error_rate(ber) == pytest.approx(per, rel=5e-3)


@pytest.fixture(scope="module")
def bit_error_run() -> bit_errors.BitErrors:
    return bit_errors.BitErrors.run(Effort(seeds=4, jobs=2))


def test_throughput_falls_with_the_bit_error_rate_and_sack_helps(bit_error_run: bit_errors.BitErrors) -> None:
    for variant in bit_errors.VARIANTS:
        means = [bit_error_run.curves[variant.name][ber].throughput.mean for ber in bit_errors.RATES]
        assert means == sorted(means, reverse=True)
    assert all(bit_error_run.gain(ber).mean >= 0 for ber in bit_errors.RATES)


def test_the_simulator_agrees_with_the_model(bit_error_run: bit_errors.BitErrors) -> None:
    for ber in (0.0, 1e-7, 4e-7, 1e-6, 2e-6):
        for variant, ideal in zip((bit_errors.PLAIN, bit_errors.SACK), bit_error_run.ideal[ber], strict=True):
            ours = bit_error_run.curves[variant.name][ber].throughput
            assert ours.mean == pytest.approx(ideal, abs=max(ours.half_width, 0.1 * ideal))


def test_the_papers_two_values_are_reproduced(bit_error_run: bit_errors.BitErrors) -> None:
    rows = [row for row in bit_errors.rows(bit_error_run) if row.item in ("Fig. 3, BER 0", "Fig. 3, BER 2e-6")]
    judged = [row for row in rows if row.verdict.decided]
    assert len(judged) == 4
    assert all(row.verdict is Verdict.REPRODUCED for row in judged), judged


def test_limited_transmit_leaves_fewer_losses_to_the_timer(bit_error_run: bit_errors.BitErrors) -> None:
    for without, limited in ((bit_errors.PLAIN, bit_errors.PLAIN_LIMITED), (bit_errors.SACK, bit_errors.SACK_LIMITED)):
        before, after = (bit_error_run.curves[variant.name][bit_errors.LARGE] for variant in (without, limited))
        assert after.mean(lambda s: s.waiting) < before.mean(lambda s: s.waiting)


def test_the_paper_is_listed() -> None:
    assert PAPERS["inet-tcp"].command == "lightlag reproduce inet-tcp"


def test_a_slow_reader_never_causes_a_silly_window_or_a_deadlock() -> None:
    judged = [row for row in slow_reader.rows() if row.verdict.decided]
    assert len(judged) == 3
    assert all(row.verdict is Verdict.REPRODUCED for row in judged), judged


def test_a_closed_window_opens_by_whole_segments() -> None:
    windows = slow_reader.Windows.run(1000)
    assert windows.shrunk == 0
    # 65,535 B hold 45 segments, and 99 ms of the first second are reads of 100 B each.
    assert windows.delivered >= 45 * slow_reader.MSS
    assert min(windows.offers) >= slow_reader.MSS


def test_replies_require_a_read_for_each_arrival() -> None:
    with pytest.raises(ValueError, match="one number for each arrival"):
        _engine.answers('{"profile": "inet"}', [(0, 100)], [])
