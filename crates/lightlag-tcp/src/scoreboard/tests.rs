use super::*;
use lightlag_core::RandomStream;
use proptest::prelude::*;

const SIZE: u64 = 100;

fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::new(SIZE as u32);
    for n in 0..segments {
        board.sent(Instant::from_nanos(n), SIZE as u32, false);
    }
    board
}

/// Returns the segments `from..to` as a range of offsets.
fn block(from: u64, to: u64) -> Range {
    Range { start: from * SIZE, end: to * SIZE }
}

impl Scoreboard {
    fn sack_segments(&mut self, from: u64, to: u64) -> Delivery {
        let mut delivery = Delivery::default();
        self.sack(block(from, to), &mut delivery);
        delivery
    }

    fn acknowledge_segments(&mut self, upto: u64) -> Delivery {
        let mut delivery = Delivery::default();
        self.acknowledge(upto * SIZE, &mut delivery);
        delivery
    }

    /// Returns the state of each record: `.` in flight, `s` SACKed, `l` lost, `r` lost and retransmitted, `R`
    /// retransmitted.
    fn picture(&self) -> String {
        let letter = |record: &SegmentRecord| match (record.has(SACKED), record.has(LOST), record.has(RETRANSMITTED)) {
            (true, ..) => 's',
            (_, true, true) => 'r',
            (_, true, false) => 'l',
            (_, false, true) => 'R',
            (_, false, false) => '.',
        };
        self.records.iter().map(letter).collect()
    }

    /// Checks the invariants of the scoreboard.
    fn check(&self) {
        assert_eq!(
            self.pipe,
            self.records.iter().map(SegmentRecord::in_pipe).sum::<u32>(),
            "pipe is the sum of records"
        );
        let mut below = self.una;
        for range in self.ranges.iter(self.una) {
            assert!(below <= range.start && range.start < range.end && range.end <= self.nxt, "{:?}", self.ranges);
            assert!(below == self.una || below < range.start, "ranges that touch are one: {:?}", self.ranges);
            below = range.end;
        }
        let mut offset = self.una;
        for (index, record) in self.records.iter().enumerate() {
            assert_eq!(record.start(self.una), offset, "records are contiguous");
            offset = record.end(self.una);
            assert!(!(record.has(SACKED) && record.has(LOST)), "SACKed data is not lost");
            let covered = self
                .ranges
                .iter(self.una)
                .any(|range| range.start <= record.start(self.una) && record.end(self.una) <= range.end);
            assert_eq!(covered, record.has(SACKED), "ranges and flags agree");
            if self.first + index as u64 >= self.lost_edge {
                assert!(!record.has(LOST), "nothing is lost above the edge");
            } else {
                assert!(record.has(LOST | SACKED), "everything below the edge is lost or SACKed");
            }
        }
        assert_eq!(offset, self.nxt);
        if let Some(top) = self.ranges.last(self.una) {
            let above = self.records.get((self.above_top - self.first) as usize);
            assert_eq!(above.map_or(self.nxt, |record| record.start(self.una)), top.end, "above the top");
        }
        assert!(self.lost_edge <= self.first + self.records.len() as u64);
    }
}

#[test]
fn a_record_is_two_words() {
    assert_eq!(size_of::<SegmentRecord>(), 16);
}

#[test]
fn three_segments_sacked_above_a_hole_lose_it() {
    let mut board = board(10);
    assert_eq!(board.sack_segments(1, 3).bytes, 200);
    board.mark_lost();
    assert_eq!(board.picture(), ".ss.......");
    board.sack_segments(1, 4);
    board.mark_lost();
    assert_eq!(board.picture(), "lsss......");
    assert_eq!(board.pipe(), 600);
    board.check();
}

#[test]
fn three_separate_ranges_mark_data_below_them_lost() {
    let mut board = board(12);
    for n in [9, 5, 7] {
        board.sack_segments(n, n + 1);
    }
    board.mark_lost();
    assert_eq!(board.picture(), "llllls.s.s..");
    board.check();
}

#[test]
fn a_block_merges_with_adjacent_blocks_and_skips_sacked_data() {
    let mut board = board(20);
    board.sack_segments(3, 5);
    board.sack_segments(8, 9);
    board.sack_segments(12, 14);
    // 5, 6, 7 and 9, 10, 11 are new; all ranges join.
    assert_eq!(board.sack_segments(4, 12).bytes, 600);
    assert!(board.ranges.iter(0).eq([block(3, 14)]));
    assert_eq!(board.sack_segments(3, 14).bytes, 0);
    assert_eq!(board.sack_segments(1, 3).bytes, 200);
    assert!(board.ranges.iter(0).eq([block(1, 14)]));
    board.check();
}

#[test]
fn parts_of_segments_wait_until_they_are_complete() {
    let mut board = board(5);
    let mut delivery = Delivery::default();
    board.sack(Range { start: 150, end: 350 }, &mut delivery);
    assert_eq!((delivery.bytes, board.picture()), (100, "..s..".into()));
    board.sack(Range { start: 310, end: 390 }, &mut delivery);
    assert_eq!(board.picture(), "..s..");
    board.acknowledge(150, &mut delivery);
    assert_eq!((board.una(), delivery.bytes), (150, 250));
    board.check();
    board.sack_segments(3, 5);
    assert_eq!(board.picture(), ".sss");
    board.check();
}

#[test]
fn nonsense_is_ignored() {
    let mut board = board(5);
    board.acknowledge_segments(2);
    for (from, to) in [(0, 2), (3, 3), (4, 3), (3, 6), (7, 9)] {
        assert_eq!(board.sack_segments(from, to).bytes, 0);
    }
    assert!(!board.any_sacked());
    // Partly below the acknowledgement: the rest counts.
    assert_eq!(board.sack_segments(1, 3).bytes, 100);
    board.check();
}

#[test]
fn lost_segments_leave_in_order_and_once() {
    let mut board = board(10);
    board.sack_segments(2, 3);
    board.sack_segments(5, 9);
    board.mark_lost();
    let order: Vec<u64> = std::iter::from_fn(|| {
        let number = board.next_lost()?;
        Some(board.retransmit(number, Instant::from_nanos(99)).start / SIZE)
    })
    .collect();
    assert_eq!(order, [0, 1, 3, 4]);
    assert_eq!(board.picture(), "rrsrrssss.");
    assert_eq!(board.pipe(), 500);
    board.check();
    // A timeout marks them lost again; SACKed segments are unchanged.
    board.mark_all_lost(Instant::MAX);
    assert_eq!((board.picture(), board.pipe(), board.next_lost()), ("llsllssssl".into(), 0, Some(0)));
    board.check();
}

#[test]
fn a_peer_that_reneges_gets_all_data_again() {
    let mut board = board(5);
    board.sack_segments(1, 3);
    board.acknowledge_segments(1);
    assert!(board.any_sacked());
    board.mark_all_lost(Instant::MAX);
    assert_eq!((board.picture(), board.any_sacked()), ("llll".into(), false));
    board.check();
}

#[test]
fn samples_come_only_from_segments_sent_once() {
    let mut board = board(6);
    board.mark_all_lost(Instant::MAX);
    board.retransmit(0, Instant::from_nanos(50));
    let delivery = board.acknowledge_segments(1);
    assert_eq!((delivery.sent, delivery.retransmitted), (None, true));
    let delivery = board.acknowledge_segments(4);
    assert_eq!(delivery.sent, Some((Instant::from_nanos(1), Instant::from_nanos(3))));
    assert!(!delivery.retransmitted);
}

#[test]
fn a_timeout_does_not_make_a_retransmitted_segment_unambiguous() {
    // An ACK for the first copy may arrive right after the second one was sent: the age of the second is not a
    // round-trip time.
    let mut board = board(3);
    board.mark_all_lost(Instant::MAX);
    board.retransmit(0, Instant::from_nanos(50));
    board.mark_all_lost(Instant::MAX);
    let delivery = board.acknowledge_segments(1);
    assert_eq!((delivery.sent, delivery.retransmitted), (None, true));
}

#[test]
fn speculation_takes_holes_then_the_last_segment() {
    let mut board = board(8);
    board.sack_segments(2, 3);
    board.sack_segments(5, 6);
    board.mark_lost();
    assert_eq!(board.next_lost(), None);
    let mut holes = Vec::new();
    while let Some(number) = board.next_hole() {
        holes.push(board.retransmit(number, Instant::ZERO).start / SIZE);
    }
    assert_eq!(holes, [0, 1, 3, 4]);
    assert_eq!(board.last_unsacked(), Some(7));
    board.sack_segments(6, 8);
    assert_eq!(board.last_unsacked(), Some(4));
    board.check();
}

#[test]
fn segments_too_large_for_the_path_are_split_and_lost() {
    let mut board = board(6);
    board.sent(Instant::from_nanos(6), 50, true);
    board.sack_segments(1, 2);
    board.sack_segments(4, 5);
    board.acknowledge(30, &mut Delivery::default());
    // 70 bytes left of the first, and 50 with the FIN of the last, which takes no payload.
    assert_eq!(board.recut(40), [2, 1, 3, 3, 1, 3, 2]);
    assert_eq!(board.picture(), "llsllllllslllll");
    board.check();
    let mut ends = Vec::new();
    while let Some(number) = board.next_lost() {
        let chunk = board.retransmit(number, Instant::from_nanos(9));
        ends.push((chunk.start, chunk.len, chunk.fin));
    }
    assert_eq!(ends[..5], [(30, 40, false), (70, 30, false), (200, 40, false), (240, 40, false), (280, 20, false)]);
    assert_eq!(ends[11..], [(600, 40, false), (640, 10, true)]);
    board.check();
    board.sack_segments(2, 6);
    board.acknowledge(651, &mut Delivery::default());
    assert!(board.is_empty() && board.pipe() == 0);
    board.check();
}

#[test]
fn the_fin_is_one_more_number() {
    let mut board = board(2);
    board.sent(Instant::ZERO, 40, true);
    assert_eq!((board.nxt(), board.flight()), (241, 241));
    board.mark_all_lost(Instant::MAX);
    assert_eq!(board.retransmit(2, Instant::ZERO), Chunk { start: 200, len: 40, fin: true });
    board.check();
}

/// The number of steps per ACK does not grow with the amount of data in flight or with the number of holes.
#[test]
fn twenty_thousand_in_flight_with_thousands_of_holes_cost_a_constant_number_of_steps() {
    let segments = 20_000;
    let mut board = board(segments);
    let mut random = RandomStream::new(1, "holes");
    let lost: Vec<bool> = (0..segments).map(|n| n == 0 || random.uniform() < 0.2).collect();
    let (mut acks, mut blocks, mut run) = (0_u64, [Range::default(); 3], None);
    for n in (0..segments).filter(|n| !lost[*n as usize]) {
        // Blocks as reported by a receiver: the run that grows, then the two before it.
        let start = *run.get_or_insert(n);
        if start != n && lost[n as usize - 1] {
            blocks = [block(n, n + 1), blocks[0], blocks[1]];
            run = Some(n);
        } else {
            blocks[0] = block(start, n + 1);
        }
        let mut delivery = Delivery::default();
        for range in blocks {
            board.sack(range, &mut delivery);
        }
        board.mark_lost();
        if let Some(number) = board.next_lost() {
            board.retransmit(number, Instant::from_nanos(segments + n));
        }
        acks += 1;
    }
    assert!(board.ranges.len() > 3_000, "{}", board.ranges.len());
    // A record is SACKed or lost once, examined once for retransmission, and each ACK ends its loops.
    let steps = board.steps;
    assert!(steps < 8 * acks, "{steps} steps for {acks} ACKs");
    board.check();
    // The repair: holes fill from the bottom.
    while let Some(number) = board.next_lost() {
        board.retransmit(number, Instant::from_nanos(2 * segments));
    }
    let before = board.steps;
    let mut fills = 0;
    for n in (0..segments).filter(|n| lost[*n as usize]) {
        let next = (n + 1..segments).find(|n| lost[*n as usize]).unwrap_or(segments);
        board.acknowledge_segments(next);
        fills += next - n;
    }
    assert!(board.steps - before < 2 * fills, "{} steps for {fills} segments", board.steps - before);
    assert!(board.is_empty() && board.pipe() == 0);
}

proptest! {
    /// Compares random reports with a bitmap. Offsets may pass 4 GiB.
    #[test]
    fn any_sequence_of_reports_keeps_the_invariants(
        steps in proptest::collection::vec((0u8..6, 0u64..60, 1u64..12), 1..80),
        before in prop_oneof![Just(0), Just((1 << 32) / SIZE - 20)],
    ) {
        let mut board = Scoreboard::new(SIZE as u32);
        (board.una, board.nxt) = (before * SIZE, before * SIZE);
        let mut delivered = before * SIZE;
        for (kind, offset, len) in steps {
            let first = board.una / SIZE;
            let count = (board.nxt - board.una).div_ceil(SIZE);
            let mut delivery = Delivery::default();
            match kind {
                0 => (0..len).for_each(|_| board.sent(Instant::ZERO, SIZE as u32, false)),
                1 | 2 => board.sack(block(first + offset, first + offset + len), &mut delivery),
                3 => board.acknowledge((first + offset.min(count)) * SIZE, &mut delivery),
                4 => board.mark_lost(),
                _ if offset > 50 => board.mark_all_lost(Instant::MAX),
                _ => {
                    if let Some(number) = board.next_lost().or_else(|| board.next_hole()) {
                        board.retransmit(number, Instant::ZERO);
                    }
                }
            }
            delivered += delivery.bytes;
            board.check();
        }
        // The bytes delivered, counted once, and the bytes not delivered add up to the bytes sent (if no report was
        // discarded).
        let missing: u64 = board.records.iter().filter(|record| !record.has(SACKED)).map(|record| u64::from(record.len())).sum();
        prop_assert!(delivered + missing >= board.nxt);
    }
}
