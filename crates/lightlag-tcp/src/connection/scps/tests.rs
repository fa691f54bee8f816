use super::*;
use crate::Profile;
use crate::config::{Bets, Config, KeepAliveConfig, LossAssumption, RateControl, Scheme, Scps};
use crate::ecn::EcnMode;
use crate::segment::{Flags, SackBlock, SeqNumber, SynOptions};
use crate::sender::Sender;
use lightlag_control::congestion::{Cause, Choice};
use lightlag_core::Bytes;
use proptest::prelude::*;
use std::sync::Arc;

const LOCAL: SeqNumber = SeqNumber(1_000);
const REMOTE: SeqNumber = SeqNumber(9_000);
const SHORT: u8 = Capabilities::SNACK_SHORT;
const LONG: u8 = Capabilities::SNACK_LONG;

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn form(snack: SnackForm) -> Config {
    let scps = Some(Scps { snack, ..Scps::default() });
    let loss_assumption = LossAssumption::Congestion;
    Config { scps, mss: 1_000, congestion: Choice::named("none"), loss_assumption, ..Profile::Scps.config() }
}

fn drain(connection: &mut Connection, now: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| connection.poll_segment(now)).collect()
}

fn syn(flags: Flags, mss: u16, offer: Option<u8>) -> Segment {
    let options = SynOptions { mss: Some(mss), window_scale: None, sack_permitted: true };
    let segment = Segment::new(REMOTE, LOCAL.plus(1), 60_000, flags).with_syn_options(options);
    match offer {
        Some(bitmap) => segment.with_capabilities(Capabilities { bitmap, connection_id: 0 }),
        None => segment,
    }
}

/// Returns a client whose handshake took 100 ms, with a peer that offers `offer`.
fn client(config: Config, mss: u16, offer: Option<u8>) -> Connection {
    let mut client = Connection::client(Arc::new(config), LOCAL);
    client.open(at(0));
    assert_eq!(drain(&mut client, at(0)).len(), 1);
    client.handle_segment(at(100), &syn(Flags::SYN.with(Flags::ACK), mss, offer));
    assert_eq!(drain(&mut client, at(100)).len(), 1);
    client
}

fn ack(acked: u32) -> Segment {
    Segment::new(REMOTE.plus(1), LOCAL.plus(1 + acked), 60_000, Flags::ACK)
}

fn hole(offset: u16, size: u16) -> Snack {
    Snack { offset, size }
}

/// Returns data of the peer.
fn data(start: u32, len: u16) -> Segment {
    let mut segment = Segment::new(REMOTE.plus(1 + start), LOCAL.plus(1), 60_000, Flags::ACK);
    segment.len = len;
    segment
}

/// Returns the offsets of the sent segments, in bytes.
fn offsets(segments: &[Segment]) -> Vec<u32> {
    segments.iter().map(|segment| segment.seq.0 - LOCAL.0 - 1).collect()
}

#[test]
fn a_capability_counts_if_both_have_its_bit() {
    let bitmaps = [0, SHORT, LONG, SHORT | LONG, 0xf8];
    let forms = [(SnackForm::Off, 0), (SnackForm::Short, SHORT), (SnackForm::Long, SHORT | LONG)];
    for ((ours, own), peer) in forms.into_iter().flat_map(|form| bitmaps.map(|bitmap| (form, bitmap))) {
        let expected = match () {
            () if own & peer & LONG != 0 => SnackForm::Long,
            () if own & peer & SHORT != 0 => SnackForm::Short,
            () => SnackForm::Off,
        };
        let client = client(form(ours), 1_000, Some(peer));
        let agreement = client.extras.scps().unwrap();
        assert_eq!((agreement.common, agreement.form), (own & peer, expected), "{ours:?} {peer:02x}");
        let mut server = Connection::server(Arc::new(form(ours)), LOCAL);
        server.handle_segment(at(0), &syn(Flags::SYN, 1_000, Some(peer)));
        let answer = drain(&mut server, at(0))[0];
        assert_eq!(answer.capabilities(), Some(Capabilities { bitmap: own, connection_id: 0 }));
        assert_eq!(server.common_capabilities(), Some(own & peer));
    }
}

#[test]
fn partial_reliability_counts_if_both_have_its_bit() {
    let bets = |on: bool| {
        let base = form(SnackForm::Short);
        Config { scps: base.scps.map(|scps| Scps { bets: on.then(Bets::default), ..scps }), ..base }
    };
    for (ours, peer) in [(false, 0), (false, 0x80), (true, 0), (true, 0x40), (true, 0x80), (true, 0xf8)] {
        let agreed = ours && peer & Capabilities::BETS != 0;
        let client = client(bets(ours), 1_000, Some(peer));
        assert_eq!(
            (client.receiver.skips_holes(), client.look(|sender| sender.best_effort().is_some())),
            (agreed, agreed)
        );
        let mut server = Connection::server(Arc::new(bets(ours)), LOCAL);
        server.handle_segment(at(0), &syn(Flags::SYN, 1_000, Some(peer)));
        let answer = drain(&mut server, at(0))[0].capabilities().unwrap();
        assert_eq!(answer.bitmap & Capabilities::BETS != 0, ours);
        server.handle_segment(at(100), &Segment::new(REMOTE.plus(1), LOCAL.plus(1), 60_000, Flags::ACK));
        assert_eq!(
            (server.receiver.skips_holes(), server.look(|sender| sender.best_effort().is_some())),
            (agreed, agreed)
        );
    }
    // A plain peer, and a plain end.
    assert!(!client(bets(true), 1_000, None).receiver.skips_holes());
    let plain = client(Config { scps: None, recovery: Scheme::NewReno, ..bets(true) }, 1_000, Some(0xf8));
    assert!(!plain.receiver.skips_holes());
}

#[test]
fn a_hole_that_no_repair_can_fill_is_left_out_of_reports() {
    let bets = Some(Bets { receive_timeout: Duration::from_millis(500), ..Bets::default() });
    let base = form(SnackForm::Short);
    let config = Config { scps: base.scps.map(|scps| Scps { bets, ..scps }), ..base };
    // Every second segment is missing, one more each 50 ms; an ACK each 100 ms, and a round trip takes 100 ms.
    let mut end = client(config, 1_000, Some(0xf8));
    let mut reports = Vec::new();
    for n in 0..12 {
        let now = 200 + 50 * u64::from(n);
        end.handle_timeout(at(now));
        reports.extend(drain(&mut end, at(now)));
        end.handle_segment(at(now), &data(2_000 * n + 1_000, 1_000));
        reports.extend(drain(&mut end, at(now)));
    }
    let offsets: Vec<Vec<u16>> = reports.iter().map(|ack| ack.snacks().map(|hole| hole.offset).collect()).collect();
    // The ACK after 600 ms, when nine holes are open: the hole of 200 ms would be skipped before its repair arrives.
    assert_eq!(offsets[3], [2, 4, 6, 8, 10, 12], "{offsets:?}");
    assert_eq!(offsets[0][0], 0);
    assert_eq!(end.holes().count, 2, "the first two are skipped after 750 ms");
}

#[test]
fn a_plain_peer_gets_plain_tcp() {
    let client = client(Config { sack: true, ..form(SnackForm::Short) }, 1_000, None);
    assert_eq!((client.common_capabilities(), client.sack, client.look(Sender::uses_sack)), (None, true, true));
    let mut server = Connection::server(Arc::new(form(SnackForm::Long)), LOCAL);
    server.handle_segment(at(0), &syn(Flags::SYN, 1_000, None));
    let answer = drain(&mut server, at(0))[0];
    assert_eq!((answer.capabilities(), answer.header_len()), (None, 24));
    // Nor does a plain end accept an offer.
    let mut plain = Connection::server(Arc::new(Profile::Rfc.config()), LOCAL);
    plain.handle_segment(at(0), &syn(Flags::SYN, 1_000, Some(SHORT)));
    assert_eq!(drain(&mut plain, at(0))[0].capabilities(), None);
}

#[test]
fn snack_replaces_sack() {
    let client = client(Config { sack: true, ..form(SnackForm::Short) }, 1_000, Some(SHORT));
    assert_eq!((client.sack, client.uses_sack(), client.look(Sender::uses_snack)), (false, false, true));
}

#[test]
fn the_syn_has_32_bytes() {
    let mut client = Connection::client(Arc::new(Profile::Scps.config()), LOCAL);
    client.open(at(0));
    let syn = client.poll_segment(at(0)).unwrap();
    assert_eq!((syn.header_len(), syn.capabilities()), (32, Some(Capabilities { bitmap: SHORT, connection_id: 0 })));
}

/// Returns the last ACK of a receiver with this form of SNACK, after the segments `arrived`, each given by its start
/// and length.
fn report(snack: SnackForm, mss: u16, arrived: &[(u32, u16)]) -> Segment {
    let mut end = client(Config { ack_interval: None, delayed_ack: None, mss, ..form(snack) }, 400, Some(0xf8));
    let mut last = None;
    for (start, len) in arrived {
        end.handle_segment(at(200), &data(*start, *len));
        last = drain(&mut end, at(200)).pop().or(last);
    }
    last.unwrap()
}

#[test]
fn the_vector_of_the_reference() {
    // MSS 472, ACK 10000, received [10472, 10944) and [12360, …): holes (0, 1) and (2, 3).
    let arrived = [(0, 1_000), (1_472, 472), (3_360, 472)];
    let segment = report(SnackForm::Short, 472, &arrived);
    assert_eq!(segment.ack, REMOTE.plus(1 + 1_000));
    assert_eq!(segment.snacks().collect::<Vec<_>>(), [hole(0, 1), hole(2, 3)]);
    // The same with a bit vector: received, three missing, received.
    let segment = report(SnackForm::Long, 472, &arrived);
    assert_eq!((segment.snacks().collect::<Vec<_>>(), segment.snack_vector()), (vec![hole(0, 1)], vec![0b1000_1000]));
}

#[test]
fn a_hole_smaller_than_a_unit_does_not_vanish() {
    // 100 bytes are missing; in units of the MSS that this end offered, whatever the segments are.
    let segment = report(SnackForm::Short, 1_000, &[(100, 400), (600, 400)]);
    assert_eq!(segment.snacks().collect::<Vec<_>>(), [hole(0, 1), hole(0, 1)]);
}

#[test]
fn six_holes_are_reported_the_lowest_first() {
    let arrived: Vec<(u32, u16)> = (0..8).map(|n| (1_000 + 2_000 * n, 1_000)).collect();
    let segment = report(SnackForm::Short, 1_000, &arrived);
    let expected: Vec<Snack> = (0..6).map(|n| hole(2 * n, 1)).collect();
    assert_eq!((segment.snacks().collect::<Vec<_>>(), segment.options_len()), (expected, 36));
}

#[test]
fn an_offset_beyond_16_bits_is_not_reported() {
    assert_eq!(snack(0, Range { start: 65_535 * 10, end: 65_540 * 10 }, 10), Some(hole(65_535, 5)));
    assert_eq!(snack(0, Range { start: 65_536 * 10, end: 65_540 * 10 }, 10), None);
    assert_eq!(snack(0, Range { start: 0, end: 1_000_000 * 10 }, 10), Some(hole(0, 65_535)));
}

/// Returns a client with ten segments of 1000 bytes in flight since 100 ms.
fn sending(config: Config, mss: u16) -> Connection {
    let mut end = client(config, mss, Some(0xf8));
    end.write(10_000);
    let size = u32::from(mss.min(1_000));
    assert_eq!(offsets(&drain(&mut end, at(100)))[..3], [0, size, 2 * size]);
    end
}

#[test]
fn reported_holes_are_retransmitted_immediately() {
    let mut end = sending(form(SnackForm::Short), 1_000);
    end.handle_segment(at(200), &ack(1_000).with_snacks(&[hole(0, 1), hole(3, 2)]));
    assert_eq!(offsets(&drain(&mut end, at(200))), [1_000, 4_000, 5_000]);
    // Data between two holes was received; nothing is stated about data above the last one.
    assert_eq!(awake!(end).board().sacked_bytes(), 2_000);
    assert_eq!(end.snapshot().inflight, 7_000);
    assert_eq!((end.statistics().recoveries, end.statistics().timeouts), (1, 0));
}

#[test]
fn a_hole_is_not_repaired_twice_within_a_round_trip() {
    // The round trip is 100 ms: each ACK repeats the report, and only the one after 300 ms causes a repair.
    let mut end = sending(form(SnackForm::Short), 1_000);
    let mut left = Vec::new();
    for now in (200..=300).step_by(10) {
        end.handle_segment(at(now), &ack(0).with_snacks(&[hole(0, 1)]));
        left.extend(drain(&mut end, at(now)).iter().map(|_| now));
    }
    assert_eq!(left, [200, 300]);
    let scps = Some(Scps { snack_delay: Duration::from_millis(250), ..Scps::default() });
    let mut end = sending(Config { scps, ..form(SnackForm::Short) }, 1_000);
    let mut left = Vec::new();
    for now in (200..=600).step_by(10) {
        end.handle_segment(at(now), &ack(0).with_snacks(&[hole(0, 1)]));
        left.extend(drain(&mut end, at(now)).iter().map(|_| now));
    }
    assert_eq!(left, [350, 600]);
}

#[test]
fn the_unit_is_the_mss_of_the_peers_syn() {
    // It offers 1,500 bytes, and our segments have 1,000: a hole of one unit that starts at 1,500 touches two of them.
    let mut end = sending(form(SnackForm::Short), 1_500);
    end.handle_segment(at(200), &ack(0).with_snacks(&[hole(1, 1)]));
    assert_eq!(offsets(&drain(&mut end, at(200))), [1_000, 2_000]);
    // Not a multiple of a segment: the hole may end up to a unit later, and the received data starts after that.
    let mut end = sending(form(SnackForm::Short), 1_500);
    end.handle_segment(at(200), &ack(0).with_snacks(&[hole(0, 1), hole(5, 1)]));
    assert_eq!(awake!(end).board().sacked_bytes(), 4_000);
}

#[test]
fn reports_outside_the_window_are_ignored_and_counted() {
    let mut end = sending(form(SnackForm::Short), 1_000);
    end.handle_segment(at(200), &ack(0).with_snacks(&[hole(10, 1), hole(65_535, 65_535)]));
    assert_eq!((drain(&mut end, at(200)).len(), end.statistics().snacks_ignored), (0, 2));
    // If a hole reaches beyond the data sent, the part that was sent is retransmitted.
    end.handle_segment(at(200), &ack(0).with_snacks(&[hole(9, 100)]));
    assert_eq!((offsets(&drain(&mut end, at(200))), end.statistics().snacks_ignored), (vec![9_000], 2));
    // Nothing is outstanding.
    end.handle_segment(at(300), &ack(10_000).with_snacks(&[hole(0, 1)]));
    assert_eq!((drain(&mut end, at(300)).len(), end.statistics().snacks_ignored), (0, 3));
}

#[test]
fn a_report_that_was_not_agreed_on_is_ignored() {
    let mut end = client(form(SnackForm::Off), 1_000, Some(0xf8));
    end.write(10_000);
    drain(&mut end, at(100));
    end.handle_segment(at(200), &ack(0).with_snacks(&[hole(0, 1)]));
    assert_eq!((drain(&mut end, at(200)).len(), end.statistics().snacks_ignored), (0, 1));
    let mut plain = client(form(SnackForm::Short), 1_000, None);
    plain.write(10_000);
    drain(&mut plain, at(100));
    plain.handle_segment(at(200), &ack(0).with_snacks(&[hole(0, 1)]));
    assert_eq!(drain(&mut plain, at(200)).len(), 0);
}

#[test]
fn a_bit_vector_is_read() {
    // Starting with the first hole: missing, missing, received, missing, received; nothing is stated about later data.
    let mut end = sending(form(SnackForm::Long), 1_000);
    end.handle_segment(at(200), &ack(1_000).with_snack_vector(hole(0, 2), &[0b1010_0000]));
    assert_eq!(offsets(&drain(&mut end, at(200))), [1_000, 2_000, 4_000]);
    assert_eq!((awake!(end).board().sacked_bytes(), end.snapshot().inflight), (2_000, 7_000));
}

#[test]
fn three_duplicates_report_a_hole_at_the_start() {
    let mut end = sending(form(SnackForm::Short), 1_000);
    for n in 1..=5 {
        end.handle_segment(at(200), &ack(0));
        assert_eq!(drain(&mut end, at(200)).len(), usize::from(n == 3), "duplicate {n}");
    }
}

fn with_window(loss_assumption: LossAssumption) -> Connection {
    let congestion = Choice::named("newreno");
    let config = Config { congestion, loss_assumption, initial_window: 10, ..form(SnackForm::Short) };
    sending(config, 1_000)
}

#[test]
fn the_assumption_sets_the_cost_of_a_loss() {
    for (assumption, window) in [(LossAssumption::Congestion, 4_500), (LossAssumption::Corruption, 11_000)] {
        let mut end = with_window(assumption.clone());
        end.handle_segment(at(200), &ack(1_000).with_snacks(&[hole(0, 1)]));
        assert_eq!(offsets(&drain(&mut end, at(200))), [1_000]);
        let snapshot = end.snapshot();
        assert_eq!(snapshot.cwnd, window, "{assumption:?}");
        assert_eq!(snapshot.ssthresh == u64::MAX, assumption == LossAssumption::Corruption);
    }
}

#[test]
fn the_assumption_sets_the_cost_of_a_timeout() {
    for (assumption, window, factor) in
        [(LossAssumption::Congestion, 1_000, 2), (LossAssumption::Corruption, 10_000, 1)]
    {
        let mut end = with_window(assumption.clone());
        let rto = end.snapshot().rto;
        let now = end.poll_timeout().unwrap();
        end.handle_timeout(now);
        assert_eq!(drain(&mut end, now).len() as u64, window / 1_000);
        assert_eq!((end.snapshot().cwnd, end.snapshot().rto), (window, rto * factor), "{assumption:?}");
    }
}

#[test]
fn reported_corruption_counts_for_a_while_and_a_mark_counts_more() {
    let mut end = with_window(LossAssumption::Congestion);
    end.handle_segment(at(150), &ack(0).with_corruption());
    end.handle_segment(at(200), &ack(1_000).with_snacks(&[hole(0, 1)]));
    assert_eq!(end.snapshot().cwnd, 11_000);
    // A second later the report has expired.
    let mut end = with_window(LossAssumption::Congestion);
    end.handle_segment(at(150), &ack(0).with_corruption());
    end.handle_segment(at(1_150), &ack(1_000).with_snacks(&[hole(0, 1)]));
    assert_eq!(end.snapshot().cwnd, 4_500);
    let mut end = with_window(LossAssumption::Corruption);
    let config = end.config.clone();
    assert!(awake!(end).blames_corruption(at(220), Cause::Loss, Some(at(100)), &config));
    awake!(end).congestion_told(at(150), &config);
    assert!(!awake!(end).blames_corruption(at(220), Cause::Loss, Some(at(100)), &config));
    assert!(awake!(end).blames_corruption(at(250), Cause::Loss, Some(at(100)), &config));
}

#[test]
fn data_sent_long_before_the_notification_is_not_exempt() {
    let mut end = with_window(LossAssumption::Congestion);
    let config = end.config.clone();
    // A round trip of 100 ms, and an interval of 100 ms that its ACK may wait.
    assert_eq!(
        (end.snapshot().srtt, config.ack_interval),
        (Duration::from_millis(100), Some(Duration::from_millis(100)))
    );
    awake!(end).corruption_told(at(500), &config);
    assert!(awake!(end).blames_corruption(at(600), Cause::Loss, Some(at(300)), &config));
    assert!(!awake!(end).blames_corruption(at(600), Cause::Loss, Some(at(299)), &config));
}

#[test]
fn acks_report_corruption_for_a_second_or_two_round_trips() {
    let mut end = client(form(SnackForm::Short), 1_000, Some(SHORT));
    end.corruption_experienced(at(200));
    let is_reported = |end: &mut Connection, now: u64, start: u32| {
        end.handle_segment(at(now), &data(start, 1_000));
        let deadline = end.poll_timeout().unwrap();
        end.handle_timeout(deadline);
        drain(end, deadline)[0].experienced_corruption()
    };
    assert!(is_reported(&mut end, 300, 0));
    assert!(is_reported(&mut end, 1_099, 1_000));
    assert!(!is_reported(&mut end, 1_100, 2_000));
}

#[test]
fn corruption_replaces_a_sack_block() {
    let config = Config { sack: true, timestamps: true, ack_interval: None, delayed_ack: None, ..form(SnackForm::Off) };
    let mut end = Connection::client(Arc::new(config), LOCAL);
    end.open(at(0));
    drain(&mut end, at(0));
    let stamped = |segment: Segment| segment.with_timestamps(crate::segment::Timestamps { value: 1, echo: 0 });
    end.handle_segment(at(100), &stamped(syn(Flags::SYN.with(Flags::ACK), 1_000, Some(0))));
    end.corruption_experienced(at(100));
    for n in 0..4 {
        end.handle_segment(at(200), &stamped(data(2_000 + 3_000 * n, 1_000)));
    }
    let last = drain(&mut end, at(200)).pop().unwrap();
    assert_eq!((last.sack().len(), last.experienced_corruption(), last.options_len()), (2, true, 36));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the options contain, nothing panics, and only outstanding data is retransmitted.
    #[test]
    fn strange_reports_break_nothing(
        long in any::<bool>(),
        peer_mss in 64_u16..3_000,
        reports in prop::collection::vec(
            (0_u32..12_000, prop::collection::vec((0_u16..40, 1_u16..40), 0..7), prop::collection::vec(any::<u8>(), 0..30),
             any::<bool>()), 1..40),
    ) {
        let snack = if long { SnackForm::Long } else { SnackForm::Short };
        let mut end = client(form(snack), peer_mss, Some(0xf8));
        end.write(10_000);
        let mut now = at(100);
        drain(&mut end, now);
        for (acked, holes, vector, corrupted) in reports {
            now += Duration::from_millis(60);
            let holes: Vec<Snack> = holes.into_iter().map(|(offset, size)| hole(offset, size)).collect();
            let mut segment = match holes[..] {
                [first] => ack(acked).with_snack_vector(first, &vector),
                _ => ack(acked).with_snacks(&holes),
            };
            if corrupted {
                segment = segment.with_corruption();
            }
            end.handle_segment(now, &segment);
            let una = awake!(end).board().una();
            for sent in drain(&mut end, now).iter().filter(|sent| sent.len > 0) {
                prop_assert!(u64::from(sent.seq.0 - LOCAL.0 - 1) >= una);
            }
            let snapshot = end.snapshot();
            prop_assert!(snapshot.inflight <= 2 * (snapshot.snd_nxt - snapshot.snd_una));
            prop_assert!(end.state() == State::Established);
        }
    }

    /// Our sender reads the reports of our receiver correctly: it retransmits what is missing, and no data that
    /// arrived.
    #[test]
    fn reports_are_understood(lost in prop::collection::btree_set(0_u64..60, 1..20), long in any::<bool>()) {
        let snack = if long { SnackForm::Long } else { SnackForm::Short };
        let config = Config { ack_interval: None, delayed_ack: None, ..form(snack) };
        let mut receiver = client(config.clone(), 1_000, Some(0xf8));
        let mut sender = client(config, 1_000, Some(0xf8));
        sender.write(60_000);
        let sent = drain(&mut sender, at(100));
        prop_assume!(sent.len() == 60);
        let mut report = None;
        for n in (0..60).filter(|n| !lost.contains(n)) {
            receiver.handle_segment(at(150), &data(1_000 * n as u32, 1_000));
            report = drain(&mut receiver, at(150)).pop().or(report);
        }
        let Some(report) = report else { return Ok(()) };
        let mut arrives = ack(report.ack.0 - REMOTE.0 - 1);
        arrives = match report.snack() {
            Some(first) if long => arrives.with_snack_vector(first, &report.snack_vector()),
            _ => arrives.with_snacks(&report.snacks().collect::<Vec<_>>()),
        };
        sender.handle_segment(at(200), &arrives);
        let again: Vec<u64> = offsets(&drain(&mut sender, at(200))).iter().map(|offset| u64::from(*offset) / 1_000).collect();
        let top = (0..60).rfind(|n| !lost.contains(n)).unwrap();
        let mut expected: Vec<u64> = lost.iter().copied().filter(|n| *n < top).collect();
        if !long {
            // No more than six runs.
            let runs = expected.iter().scan((0, None), |(runs, last), n| {
                *runs += u32::from(last.is_none_or(|last: u64| last + 1 != *n));
                *last = Some(*n);
                Some(*runs)
            });
            let kept = runs.filter(|run| *run <= 6).count();
            expected.truncate(kept);
        }
        prop_assert_eq!(again, expected);
        // No SACK block was written for it.
        prop_assert_eq!(report.sack(), &[] as &[SackBlock]);
    }
}

#[test]
fn snack_needs_its_own_recovery() {
    let end = client(Config { recovery: Scheme::NewReno, ..form(SnackForm::Short) }, 1_000, Some(SHORT));
    assert!(!end.look(Sender::uses_snack));
}

#[test]
fn an_idle_sender_waits_for_no_tokens() {
    let rate = lightlag_core::Rate::from_bps(1_600).unwrap();
    let keep_alive = KeepAliveConfig { idle: Duration::from_secs(3_000), interval: Duration::from_secs(1), probes: 1 };
    let config = Config {
        rate_control: Some(RateControl {
            rate,
            ack_rate: None,
            bucket: Some(Bytes(1_040)),
            release: Default::default(),
        }),
        keep_alive: Some(keep_alive),
        ..form(SnackForm::Short)
    };
    let mut end = client(config, 1_000, Some(SHORT));
    end.write(1_000);
    assert_eq!(drain(&mut end, at(100)).len(), 0, "the handshake took tokens");
    let ready = end.poll_timeout().unwrap();
    end.handle_timeout(ready);
    assert_eq!(drain(&mut end, ready).len(), 1);
    end.handle_segment(ready, &ack(1_000));
    assert_eq!((drain(&mut end, ready).len(), end.poll_timeout()), (0, Some(at(100) + keep_alive.idle)));
}

#[test]
fn a_mark_costs_what_it_costs_after_an_exempt_loss() {
    let config = Config {
        mss: 1_000,
        ecn: EcnMode::Classic,
        loss_assumption: LossAssumption::Corruption,
        congestion: Choice::named("newreno"),
        timestamps: false,
        ..Profile::Linux.config()
    };
    let mut end = Connection::client(Arc::new(config), LOCAL);
    end.open(at(0));
    drain(&mut end, at(0));
    end.handle_segment(at(100), &syn(Flags::SYN.with(Flags::ACK).with(Flags::ECE), 1_000, None));
    drain(&mut end, at(100));
    end.write(1_000_000);
    drain(&mut end, at(100));
    // A timeout, which is attributed to corruption.
    while end.statistics().timeouts == 0 {
        let now = end.poll_timeout().unwrap();
        end.handle_timeout(now);
        drain(&mut end, now);
    }
    let now = end.poll_timeout().unwrap();
    let outstanding = end.snapshot().snd_nxt as u32;
    end.handle_segment(now, &ack(outstanding));
    assert!(drain(&mut end, now).len() > 1);
    let mut marked = ack(outstanding + 1_000);
    marked.flags = marked.flags.with(Flags::ECE);
    end.handle_segment(now, &marked);
    let (window, reactions) = (end.snapshot().cwnd, end.statistics().mark_reactions);
    assert!(window >= 1_000 && reactions == 1, "{window} B, {reactions} reactions");
}
