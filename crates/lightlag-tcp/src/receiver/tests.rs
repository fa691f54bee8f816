use super::*;
use proptest::prelude::*;

const NOW: Instant = Instant::ZERO;

fn receiver(delayed: Option<u16>) -> Receiver {
    let timeout = Duration::from_millis(200);
    let mut receiver = Receiver::new(
        100_000,
        100,
        delayed.map(|segments| DelayedAck { segments, timeout, quick: 0, adaptive: false }),
    );
    receiver.set_scale(Receiver::scale_for(100_000, WindowRule::Stevens));
    receiver.acknowledged(false);
    receiver
}

/// Delivers the segments `from..to` of 100 bytes one by one, and sends each ACK that is due. Returns the number of
/// ACKs.
fn arrive(receiver: &mut Receiver, from: u64, to: u64) -> usize {
    (from..to)
        .filter(|n| {
            receiver.receive(NOW, n * 100, 100, Flags::ACK);
            let due = receiver.ack_due();
            if due {
                receiver.acknowledged(false);
            }
            due
        })
        .count()
}

fn sacked(receiver: &Receiver) -> Vec<Range> {
    receiver.holes.iter().flat_map(|holes| holes.reports(receiver.nxt)).collect()
}

fn blocks(receiver: &Receiver) -> Vec<(u64, u64)> {
    sacked(receiver).iter().map(|range| (range.start / 100, range.end / 100)).collect()
}

#[test]
fn every_second_segment_is_acknowledged() {
    let mut receiver = receiver(Some(2));
    assert_eq!(arrive(&mut receiver, 0, 9), 4);
    assert_eq!(receiver.deadline(), NOW + Duration::from_millis(200));
    receiver.handle_timeout(PathTimes { srtt: Duration::ZERO, rto: Duration::from_secs(1) });
    assert!(receiver.ack_due());
}

#[test]
fn a_burst_is_acknowledged_with_its_last_segment() {
    let more = Flags::ACK.with(Flags::MORE);
    let mut receiver = receiver(None);
    for (start, flags, is_due) in [(0, more, false), (100, more, false), (200, Flags::ACK, true)] {
        receiver.receive(NOW, start, 100, flags);
        assert_eq!(receiver.ack_due(), is_due, "{start}");
    }
    receiver.acknowledged(false);
    // 300 to 500 are lost: one report for the burst above the hole.
    receiver.receive(NOW, 500, 100, more);
    assert!(!receiver.ack_due());
    receiver.receive(NOW, 600, 100, Flags::ACK);
    assert!(receiver.ack_due());
    assert_eq!(blocks(&receiver), [(5, 7)]);
}

#[test]
fn a_burst_without_its_end_is_acknowledged_after_40_ms() {
    let mut receiver = receiver(None);
    receiver.receive(NOW, 0, 100, Flags::ACK.with(Flags::MORE));
    assert_eq!((receiver.ack_due(), receiver.deadline()), (false, NOW + Duration::from_millis(40)));
    receiver.handle_timeout(PathTimes { srtt: Duration::ZERO, rto: Duration::from_secs(1) });
    assert!(receiver.ack_due());
    // The next segment, of another burst, counts as usual.
    receiver.acknowledged(false);
    receiver.receive(NOW, 100, 100, Flags::ACK);
    assert_eq!((receiver.ack_due(), receiver.deadline()), (true, Instant::MAX));
}

#[test]
fn data_sent_after_the_fin_is_discarded() {
    let mut receiver = receiver(Some(2));
    arrive(&mut receiver, 1, 3);
    arrive(&mut receiver, 5, 7);
    // The FIN shows that the stream ends at 250.
    receiver.receive(NOW, 0, 50, Flags::ACK);
    receiver.receive(NOW, 200, 50, Flags::FIN);
    assert_eq!(sacked(&receiver), [Range { start: 100, end: 250 }]);
    receiver.receive(NOW, 50, 50, Flags::ACK);
    assert_eq!((receiver.received(), receiver.nxt()), (250, 251));
    assert!(receiver.fin_consumed() && !receiver.has_holes() && sacked(&receiver).is_empty());
}

#[test]
fn disorder_is_acknowledged_at_once() {
    let mut receiver = receiver(Some(2));
    // 1..5 above a hole: four ACKs; a duplicate: one; the fill: one.
    assert_eq!(arrive(&mut receiver, 1, 5), 4);
    assert_eq!(arrive(&mut receiver, 2, 3), 1);
    assert_eq!(arrive(&mut receiver, 0, 1), 1);
    assert_eq!(receiver.received(), 500);
    assert_eq!(arrive(&mut receiver, 3, 4), 1, "old data");
    assert_eq!(arrive(&mut receiver, 5, 6), 0, "in order again");
}

#[test]
fn the_first_segments_are_acknowledged_quickly() {
    let quick = DelayedAck { segments: 2, timeout: Duration::from_millis(40), quick: 3, adaptive: false };
    let mut receiver = Receiver::new(100_000, 100, Some(quick));
    receiver.acknowledged(false);
    assert_eq!(arrive(&mut receiver, 0, 3), 3);
    assert_eq!(arrive(&mut receiver, 3, 7), 2);
}

#[test]
fn the_newest_block_comes_first() {
    let mut receiver = receiver(None);
    for n in [2, 4, 6, 8, 10] {
        arrive(&mut receiver, n, n + 1);
    }
    // RFC 2018 §4: the newest first, then the most recently reported; no more than four.
    assert_eq!(blocks(&receiver), [(10, 11), (8, 9), (6, 7), (4, 5)]);
    arrive(&mut receiver, 5, 6);
    assert_eq!(blocks(&receiver), [(4, 7), (10, 11), (8, 9)]);
    arrive(&mut receiver, 0, 2);
    assert_eq!(receiver.received(), 300);
    arrive(&mut receiver, 3, 4);
    assert_eq!((receiver.received(), blocks(&receiver)), (700, vec![(10, 11), (8, 9)]));
}

#[test]
fn the_example_of_rfc_2018_without_the_first_segment() {
    // §7 case 2: the first of eight segments of 500 bytes is lost; each ACK's block grows by one.
    let mut receiver = receiver(None);
    for n in 1..8 {
        receiver.receive(NOW, n * 500, 500, Flags::ACK);
        assert_eq!(sacked(&receiver), [Range { start: 500, end: (n + 1) * 500 }]);
    }
}

#[test]
fn the_right_edge_never_moves_back() {
    let mut receiver = receiver(None);
    let edge = receiver.edge();
    arrive(&mut receiver, 1, 300);
    assert!(receiver.edge() >= edge);
    // Data beyond the edge is cut off.
    assert_eq!(receiver.receive(NOW, edge - 50, 100, Flags::ACK), 0);
    receiver.receive(NOW, edge + 100, 100, Flags::ACK);
    arrive(&mut receiver, 0, 1);
    assert_eq!(receiver.received(), 30_000);
}

#[test]
fn the_shift_brings_the_buffer_into_sixteen_bits() {
    for (buffer, shift) in [(65_535, 0), (65_536, 1), (300_000, 3), (16 << 20, 9), (1 << 40, 14)] {
        assert_eq!(Receiver::scale_for(buffer, WindowRule::Stevens), shift);
    }
}

#[test]
fn the_fin_waits_for_the_data_before_it() {
    let mut receiver = receiver(Some(2));
    receiver.receive(NOW, 100, 100, Flags::FIN);
    assert!(!receiver.fin_consumed());
    receiver.receive(NOW, 0, 100, Flags::ACK);
    assert!(receiver.fin_consumed() && receiver.ack_due());
    assert_eq!((receiver.received(), receiver.nxt()), (200, 201));
    assert_eq!(receiver.receive(NOW, 200, 0, Flags::FIN), 0);
    assert_eq!(receiver.received(), 200);
}

#[test]
fn the_earliest_unacknowledged_segment_is_echoed() {
    let mut receiver = receiver(Some(2));
    receiver.set_ts_recent(NOW, 10);
    for (start, value) in [(0, 20), (100, 21)] {
        receiver.note_timestamp(NOW, start, value);
        receiver.receive(NOW, start, 100, Flags::ACK);
    }
    assert_eq!(receiver.ts_recent(), 20);
    receiver.acknowledged(false);
    // Above a hole the timestamp of the last segment in order is echoed; the segment that fills the hole is echoed
    // itself (RFC 7323 §4.3).
    receiver.note_timestamp(NOW, 300, 30);
    receiver.receive(NOW, 300, 100, Flags::ACK);
    assert_eq!(receiver.ts_recent(), 20);
    receiver.note_timestamp(NOW, 200, 40);
    assert_eq!(receiver.ts_recent(), 40);
    assert!(receiver.is_old(NOW, 39) && !receiver.is_old(NOW, 40));
    assert!(receiver.is_old(NOW, 40u32.wrapping_sub(1 << 30)));
}

/// Returns the SACK report, with D-SACK, after each of these segments. They arrive in this order, and are given by
/// start and end.
fn reports(numbers: &[(u64, u64)]) -> Vec<Vec<(u64, u64)>> {
    let mut receiver = receiver(None);
    receiver.report_duplicates();
    let arrived = numbers.iter().map(|(start, end)| {
        receiver.receive(NOW, *start, end - start, Flags::ACK);
        let mut ranges = [Range::default(); MAX_BLOCKS];
        let len = receiver.report(&mut ranges);
        assert!(receiver.ack_due(), "each of these segments is acknowledged immediately");
        receiver.acknowledged(false);
        ranges[..len].iter().map(|range| (range.start, range.end)).collect()
    });
    arrived.collect()
}

#[test]
fn data_above_a_hole_needs_few_bytes() {
    assert!(size_of::<Reassembly>() <= 88, "{}", size_of::<Reassembly>());
}

#[test]
fn a_duplicate_below_the_acknowledgement_comes_first() {
    // RFC 2883 §4.1.1: all ACKs were lost, and the first segment is retransmitted. Offsets here start at 3000 there.
    let all = reports(&[(0, 500), (500, 1_000), (0, 500)]);
    assert_eq!(all, [vec![], vec![], vec![(0, 500)]]);
}

#[test]
fn a_duplicate_is_followed_by_the_newest_block() {
    // §4.1.2: 3000 and 3500 arrived, 4000 is lost, 4500 arrives, then 3000 again.
    let all = reports(&[(0, 500), (500, 1_000), (1_500, 2_000), (0, 500), (2_000, 2_500)]);
    assert_eq!(all[2..], [vec![(1_500, 2_000)], vec![(0, 500), (1_500, 2_000)], vec![(1_500, 2_500)]]);
}

#[test]
fn a_duplicate_above_a_hole_is_inside_the_second_block() {
    // §4.1.3: 4000 is lost, the segments above it arrive, 5000 arrives twice.
    let all = reports(&[(0, 500), (1_000, 1_500), (1_500, 2_000), (2_000, 2_500), (1_500, 2_000)]);
    assert_eq!(all[4], [(1_500, 2_000), (1_000, 2_500)]);
}

#[test]
fn of_a_partial_duplicate_the_part_is_reported() {
    // §4.2.1: 500..1000 arrived; 500..1500 reports the first half only.
    let all = reports(&[(0, 500), (500, 1_000), (500, 1_500)]);
    assert_eq!(all[2], [(500, 1_000)]);
    // §4.2.2 and §4.2.3: the first of two separate parts.
    let all = reports(&[(500, 1_000), (1_500, 2_000), (0, 2_500)]);
    assert_eq!(all[2], [(500, 1_000)]);
    let all = reports(&[(0, 500), (1_000, 1_500), (2_000, 2_500), (1_000, 2_500)]);
    assert_eq!(all[3], [(1_000, 1_500), (1_000, 2_500)]);
}

#[test]
fn unread_data_closes_the_window_and_reading_opens_it() {
    // Buffer 1,000, segments of 100: a window below both a quarter of the buffer and a segment is closed.
    let mut receiver = Receiver::new(1_000, 100, None);
    receiver.read_later();
    assert_eq!(receiver.acknowledged(false), 1_000);
    let windows: Vec<u16> = (0..19)
        .map(|n| {
            receiver.receive(NOW, n * 50, 50, Flags::ACK);
            receiver.acknowledged(false)
        })
        .collect();
    let expected: Vec<u16> = (1..20).map(|n| 1_000 - 50 * n).collect();
    assert_eq!(windows, expected, "the offered window never shrinks");
    receiver.receive(NOW, 950, 50, Flags::ACK);
    assert_eq!((receiver.acknowledged(false), receiver.unread()), (0, 1_000));
    // A window update is worth 200 bytes: two segments (half the buffer would be 500).
    assert_eq!((receiver.until_update(), receiver.read(150), receiver.ack_due()), (Some(200), 150, false));
    assert_eq!((receiver.until_update(), receiver.read(50), receiver.ack_due()), (Some(50), 50, true));
    assert_eq!(receiver.acknowledged(false), 200);
    assert_eq!((receiver.read(10_000), receiver.acknowledged(false)), (800, 1_000));
    assert_eq!(receiver.until_update(), None, "nothing more can be read");
}

#[test]
fn no_update_is_sent_with_nothing_to_read() {
    let mut receiver = Receiver::new(1_000, 100, None);
    receiver.read_later();
    receiver.acknowledged(false);
    // The buffer has grown: a wider window would be worth an update, but without a read none is sent.
    receiver.buffer = 2_000;
    assert_eq!((receiver.until_update(), receiver.read(1), receiver.ack_due()), (None, 0, false));
    receiver.receive(NOW, 0, 2, Flags::ACK);
    receiver.ack_now = false;
    assert_eq!((receiver.until_update(), receiver.read(1), receiver.ack_due()), (Some(0), 1, true));
}

#[test]
fn no_update_is_sent_in_addition_to_an_ack_of_fixed_frequency() {
    let mut receiver = Receiver::new(1_000, 100, None);
    receiver.set_interval(Duration::from_millis(100));
    receiver.read_later();
    receiver.acknowledged(false);
    receiver.receive(NOW, 0, 900, Flags::ACK);
    // A full segment still fits: the timer's ACK reports the wider window.
    assert_eq!((receiver.until_update(), receiver.read(300), receiver.ack_due()), (None, 300, false));
    receiver.receive(NOW, 900, 50, Flags::ACK);
    // No full segment fits any more, and the update is worth more than its two segments.
    assert_eq!((receiver.until_update(), receiver.read(1), receiver.ack_due()), (Some(0), 1, true));
    assert_eq!(receiver.acknowledged(false), 351);
    assert_eq!((receiver.until_update(), receiver.read(600), receiver.ack_due()), (None, 600, false));
}

#[test]
fn no_update_is_sent_in_addition_to_one_that_is_due() {
    for (rule, policy) in window_rules() {
        let mut receiver = Receiver::new(1_000, 100, Some(policy));
        receiver.set_rule(rule);
        receiver.acknowledged(true);
        receiver.read_later();
        receiver.receive(NOW, 0, 800, Flags::ACK);
        receiver.acknowledged(false);
        receiver.read(700);
        // If it waits for tokens, it then reports all data that was read meanwhile.
        assert_eq!((receiver.ack_due(), receiver.unread(), receiver.until_update()), (true, 100, None), "{rule:?}");
    }
}

#[test]
fn the_buffer_holds_a_window_that_its_unit_rounds_up() {
    for (rule, policy) in window_rules() {
        let mut receiver = Receiver::new(999, 100, Some(policy));
        receiver.set_rule(rule);
        receiver.read_later();
        receiver.set_scale(10);
        assert_eq!((receiver.acknowledged(false), receiver.edge()), (1, 1_024), "{rule:?}");
        assert!(receiver.has_room(1_024) && !receiver.has_room(999 + 1_024));
        receiver.receive(NOW, 0, 1_000, Flags::ACK);
        assert!(receiver.has_room(24), "{rule:?}");
    }
}

#[test]
fn a_buffer_below_the_unit_of_the_window_still_opens() {
    let mut receiver = Receiver::new(100, 50, None);
    receiver.read_later();
    assert_eq!(receiver.acknowledged(true), 100, "a SYN's window has no scale");
    receiver.set_scale(8);
    receiver.receive(NOW, 0, 100, Flags::ACK);
    assert_eq!(receiver.acknowledged(false), 0);
    receiver.read(60);
    assert_eq!(receiver.acknowledged(false), 1, "256 B");
}

#[test]
fn a_buffer_below_a_segment_does_not_keep_a_silly_window() {
    let mut receiver = Receiver::new(1_341, 1_448, None);
    receiver.set_rule(WindowRule::Linux);
    receiver.read_later();
    assert_eq!(receiver.acknowledged(true), 1_341);
    receiver.receive(NOW, 0, 1_339, Flags::ACK);
    assert_eq!(receiver.acknowledged(false), 2, "the rest of the offered window");
    receiver.read(1_339);
    receiver.receive(NOW, 1_339, 2, Flags::ACK);
    assert_eq!(receiver.acknowledged(false), 1_339, "everything except unread data");
}

#[test]
fn an_overfull_buffer_is_emptied_before_an_update() {
    let mut receiver = Receiver::new(1_000, 100, None);
    receiver.read_later();
    receiver.acknowledged(false);
    receiver.receive(NOW, 0, 1_000, Flags::ACK);
    receiver.acknowledged(false);
    receiver.buffer = 400;
    // 600 to be within the buffer, and two segments.
    assert_eq!((receiver.until_update(), receiver.read(799), receiver.ack_due()), (Some(800), 799, false));
    assert_eq!((receiver.until_update(), receiver.read(1), receiver.ack_due()), (Some(1), 1, true));
}

#[test]
fn a_silly_window_stays_closed() {
    let mut receiver = Receiver::new(1_000, 100, None);
    receiver.read_later();
    receiver.acknowledged(false);
    receiver.receive(NOW, 0, 1_000, Flags::ACK);
    assert_eq!(receiver.acknowledged(false), 0);
    // 99 bytes are below a segment and below a quarter of the buffer.
    receiver.read(99);
    assert_eq!(receiver.acknowledged(false), 0);
    receiver.read(1);
    assert_eq!(receiver.acknowledged(false), 100);
}

#[test]
fn data_above_a_hole_occupies_the_buffer() {
    let mut receiver = Receiver::new(1_000, 100, None);
    receiver.read_later();
    receiver.acknowledged(false);
    receiver.receive(NOW, 100, 300, Flags::ACK);
    assert!(receiver.has_room(700) && !receiver.has_room(701));
    receiver.receive(NOW, 0, 100, Flags::ACK);
    assert_eq!((receiver.acknowledged(false), receiver.unread()), (600, 400));
}

/// Returns the size of the buffer after each round of 100 ms, in which this number of bytes arrives and is read.
/// Segments have 1,000 bytes.
fn tuned(rounds: &[u64]) -> Vec<u64> {
    let mut receiver = Receiver::new(65_535, 1_000, None);
    receiver.set_scale(Receiver::scale_for(1 << 20, WindowRule::Stevens));
    let rtt = Duration::from_millis(100);
    receiver.start_tuning(NOW, 1 << 20, rtt);
    receiver.acknowledged(false);
    let sizes = rounds.iter().enumerate().map(|(n, bytes)| {
        let now = NOW + rtt * (n as u64 + 1);
        receiver.receive(now, receiver.nxt(), *bytes, Flags::ACK);
        assert!(receiver.tune_at() <= now || receiver.tune_at() == Instant::MAX);
        receiver.tune(now, rtt);
        receiver.acknowledged(false);
        receiver.buffer
    });
    sizes.collect()
}

#[test]
fn an_automatic_buffer_stays_ahead_of_slow_start() {
    // 20,000 after 10,000: 2 · 20,000 + 16,000 = 56,000, and twice its growth of 100 %: 168,000.
    assert_eq!(tuned(&[10_000, 20_000]), [65_535, 168_000]);
    // Then 40,000: 96,000 and twice as much again; the next round always fits.
    assert_eq!(tuned(&[10_000, 20_000, 40_000, 80_000]), [65_535, 168_000, 288_000, 528_000]);
    // A steady stream leaves the buffer unchanged, and the limit applies.
    assert_eq!(tuned(&[10_000, 20_000, 20_000, 20_000])[1..], [168_000; 3]);
    assert_eq!(*tuned(&[20_000, 60_000, 200_000, 600_000]).last().unwrap(), 1 << 20);
}

#[test]
fn an_application_that_reads_slowly_gets_no_larger_buffer() {
    let mut receiver = Receiver::new(65_535, 1_000, None);
    receiver.start_tuning(NOW, 1 << 20, Duration::from_millis(100));
    receiver.read_later();
    receiver.acknowledged(false);
    for n in 1..6 {
        receiver.receive(NOW, receiver.nxt(), 10_000, Flags::ACK);
        receiver.read(5_000);
        receiver.tune(NOW + Duration::from_millis(100) * n, Duration::from_millis(100));
    }
    assert_eq!(receiver.buffer, 65_535);
}

/// Returns a receiver of segments of 500 bytes with this buffer and rule. Its application reads only when the test
/// calls `read`.
fn small_buffer(buffer: u64, rule: WindowRule) -> Receiver {
    let mut receiver = Receiver::new(buffer, 500, None);
    receiver.set_rule(rule);
    receiver.read_later();
    receiver.acknowledged(false);
    receiver
}

#[test]
fn inet_closes_a_window_below_a_segment_however_small_the_buffer() {
    // 1,200 bytes: a quarter is less than a segment.
    for (rule, offered) in [(WindowRule::Stevens, 450), (WindowRule::Inet, 0)] {
        let mut receiver = small_buffer(1_200, rule);
        receiver.receive(NOW, 0, 1_200, Flags::ACK);
        assert_eq!(receiver.acknowledged(false), 0);
        receiver.read(450);
        assert_eq!(receiver.acknowledged(false), offered, "{rule:?}");
    }
    // With many segments both rules give the same window.
    for rule in [WindowRule::Stevens, WindowRule::Inet] {
        let mut receiver = small_buffer(50_000, rule);
        receiver.receive(NOW, 0, 49_600, Flags::ACK);
        assert_eq!(receiver.acknowledged(false), 400, "promised with the first window");
        receiver.receive(NOW, 49_600, 400, Flags::ACK);
        receiver.read(499);
        assert_eq!(receiver.acknowledged(false), 0, "{rule:?}");
    }
}

#[test]
fn an_update_of_inet_is_sent_when_a_segment_fits() {
    let mut receiver = small_buffer(900, WindowRule::Inet);
    receiver.receive(NOW, 0, 900, Flags::ACK);
    receiver.acknowledged(false);
    assert_eq!(receiver.until_update(), Some(500));
    receiver.read(499);
    assert!(!receiver.ack_due());
    receiver.read(1);
    assert!(receiver.ack_due());
    assert_eq!(receiver.acknowledged(false), 500);
}

#[test]
fn a_buffer_below_a_segment_opens_when_it_is_empty() {
    let mut receiver = small_buffer(300, WindowRule::Inet);
    receiver.receive(NOW, 0, 300, Flags::ACK);
    receiver.acknowledged(false);
    receiver.read(299);
    assert!(!receiver.ack_due());
    receiver.read(1);
    assert!(receiver.ack_due());
    assert_eq!(receiver.acknowledged(false), 300);
}

/// Returns each rule for windows, with ACKs per number of segments or as in Linux.
fn window_rules() -> [(WindowRule, DelayedAck); 3] {
    let policy = |adaptive| DelayedAck { segments: 2, timeout: Duration::from_millis(40), quick: 4, adaptive };
    [WindowRule::Stevens, WindowRule::Inet, WindowRule::Linux].map(|rule| (rule, policy(rule == WindowRule::Linux)))
}

#[test]
fn a_new_buffer_shows_in_the_window_of_an_end_that_only_sends() {
    let mut receiver = Receiver::new(30_000, 100, None);
    assert_eq!([receiver.acknowledged(false), receiver.acknowledged(false)], [30_000; 2], "nothing changed");
    receiver.set_buffer(60_000);
    assert_eq!(receiver.acknowledged(false), 60_000);
}

proptest! {
    /// Cached windows equal windows that are computed for each segment.
    #[test]
    fn a_cached_window_equals_a_computed_one(
        operations in proptest::collection::vec((0u8..10, 0u64..20), 1..200),
        read_later in any::<bool>(),
    ) {
        for (rule, policy) in window_rules() {
            let mut pair = [(); 2].map(|()| Receiver::new(3_000, 100, Some(policy)));
            for (index, (operation, number)) in operations.iter().enumerate() {
                let now = NOW + Duration::from_millis(index as u64);
                let windows = pair.each_mut().map(|receiver| {
                    if index == 0 {
                        receiver.set_rule(rule);
                        receiver.acknowledged(true);
                        if read_later {
                            receiver.read_later();
                        }
                    }
                    match operation {
                        0..=3 => {
                            let nxt = receiver.nxt();
                            receiver.receive(now, nxt, 100, Flags::ACK);
                        }
                        4 => {
                            receiver.receive(now, number * 100, 100, Flags::ACK);
                        }
                        5 => {
                            receiver.read(number * 50);
                        }
                        6 if *number == 0 => receiver.set_buffer(6_000),
                        6 => receiver.set_quick(1),
                        _ => return Some(receiver),
                    }
                    None
                });
                let [Some(kept), Some(computed)] = windows else { continue };
                computed.window = None;
                prop_assert_eq!(kept.acknowledged(false), computed.acknowledged(false));
                prop_assert_eq!(kept.edge(), computed.edge());
            }
        }
    }

    /// If a reader reads as much as the receiver waits for, an ACK becomes due: the reader is never notified
    /// needlessly.
    #[test]
    fn data_that_unblocks_a_reader_causes_an_update(
        operations in proptest::collection::vec((0u8..10, 0u64..20), 1..200),
        fixed in any::<bool>(),
    ) {
        for (rule, policy) in window_rules() {
            let mut receiver = Receiver::new(3_000, 100, Some(policy));
            receiver.set_rule(rule);
            if fixed {
                receiver.set_interval(Duration::from_millis(40));
            }
            receiver.acknowledged(true);
            receiver.read_later();
            for (at, (operation, number)) in operations.iter().enumerate() {
                let (now, nxt) = (NOW + Duration::from_millis(at as u64), receiver.nxt());
                match operation {
                    0..=3 => _ = receiver.receive(now, nxt, 5 * number, Flags::ACK),
                    4 => _ = receiver.receive(now, nxt + 100 * number, 100, Flags::ACK),
                    5 => _ = receiver.read(number * 50),
                    6 => {
                        if let Some(bytes) = receiver.until_update() {
                            receiver.read(bytes.max(1));
                            prop_assert!(receiver.ack_due(), "{bytes} bytes of {}", receiver.unread());
                        }
                    }
                    7 if *number == 0 => receiver.set_buffer(6_000),
                    7 => _ = receiver.acknowledged(false),
                    _ if receiver.ack_due() || receiver.deadline() <= now => _ = receiver.acknowledged(false),
                    _ => {}
                }
            }
        }
    }

    /// For any order of segments, with duplicates and overlaps: the received data is the prefix that arrived, all
    /// reported data arrived, and the edge never moves back. Offsets may pass 4 GiB.
    #[test]
    fn reassembly_agrees_with_a_bitmap(
        arrivals in proptest::collection::vec((0u64..60, 1u64..6), 1..100),
        base in prop_oneof![Just(0), Just((1 << 32) - 350)],
    ) {
        let mut receiver = receiver(Some(2));
        (receiver.nxt, receiver.last_ack, receiver.edge) = (base, base, base + receiver.edge);
        let (mut arrived, mut edge) = (vec![false; 700], receiver.edge());
        for (at, len) in arrivals {
            let (start, end) = (at * 10, (at + len) * 10);
            let before = arrived[start as usize..end as usize].iter().filter(|byte| **byte).count() as u64;
            prop_assert_eq!(receiver.receive(NOW, base + start, end - start, Flags::ACK), before);
            for byte in &mut arrived[start as usize..end as usize] {
                *byte = true;
            }
            let prefix = arrived.iter().take_while(|byte| **byte).count() as u64;
            prop_assert_eq!(receiver.received(), base + prefix);
            let holes = receiver.holes.as_deref();
            let held: u64 = holes.map_or(0, |holes| holes.ranges.iter(receiver.nxt).map(|range| range.end - range.start).sum());
            let present = arrived.iter().filter(|byte| **byte).count() as u64;
            prop_assert_eq!(prefix + held, present);
            prop_assert_eq!(holes.map_or(0, |holes| holes.bytes.into()), held);
            for range in sacked(&receiver) {
                prop_assert!(holes.unwrap().ranges.iter(receiver.nxt).any(|whole| whole == range), "{range:?}");
            }
            if receiver.ack_due() {
                receiver.acknowledged(false);
            }
            prop_assert!(receiver.edge() >= edge);
            edge = receiver.edge();
        }
    }
}

#[test]
fn an_ack_is_not_hurried_once_half_the_buffer_waits_to_be_read() {
    let timeout = Duration::from_millis(200);
    for (len, hurried) in [(4_000, true), (6_000, false)] {
        let delayed = DelayedAck { segments: 2, timeout, quick: 16, adaptive: true };
        let mut receiver = Receiver::new(10_000, 1_000, Some(delayed));
        receiver.set_rule(WindowRule::Linux);
        receiver.acknowledged(false);
        receiver.read_later();
        receiver.set_quick(16);
        // Several segments joined by the device, because one is not enough to check the window.
        receiver.receive(NOW, 0, len, Flags::ACK);
        assert_eq!(receiver.ack_due(), hurried, "{len}");
    }
}
