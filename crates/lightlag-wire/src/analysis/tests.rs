//! Dialogues of segments, and the results that they must give.

use super::*;
use crate::{Addresses, Captured, IpFields, encode};
use lightlag_core::Codepoint;
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SackBlock, SeqNumber, Snack, SynOptions, Timestamps};
use proptest::prelude::*;

mod properties;

/// Initial sequence numbers. The client's is close to the maximum, so that the numbers of every longer dialogue wrap.
const CLIENT: u32 = u32::MAX - 1500;
const SERVER: u32 = 77;

/// A connection whose segments are analysed one by one. Unless the times suggest otherwise, the capture is at the
/// client.
struct Dialogue {
    analysis: Analysis,
    last: Option<Observation>,
    ports: u16,
}

/// Returns a segment of the client. Its offset counts from the SYN, so that data starts at 1.
fn data(start: u32, len: u16) -> Segment {
    let mut segment = Segment::new(SeqNumber(CLIENT).plus(start), SeqNumber(SERVER + 1), 500, Flags::ACK);
    segment.len = len;
    segment
}

/// Returns a pure ACK of the server.
fn ack(offset: u32, window: u16) -> Segment {
    Segment::new(SeqNumber(SERVER + 1), SeqNumber(CLIENT).plus(offset), window, Flags::ACK)
}

fn flagged(flags: Flags, mut segment: Segment) -> Segment {
    segment.flags = flags;
    segment
}

fn block(start: u32, end: u32) -> SackBlock {
    SackBlock { start: SeqNumber(CLIENT).plus(start), end: SeqNumber(CLIENT).plus(end) }
}

impl Dialogue {
    fn begun() -> Self {
        let mut dialogue = Self { analysis: Analysis::new(Limits::default()), last: None, ports: 0 };
        let options = SynOptions { mss: Some(1000), window_scale: Some(7), sack_permitted: true };
        let syn = Segment::new(SeqNumber(CLIENT), SeqNumber(0), 1000, Flags::SYN).with_syn_options(options);
        let answer = Segment::new(SeqNumber(SERVER), SeqNumber(CLIENT).plus(1), 1000, Flags::SYN.with(Flags::ACK));
        dialogue.out(0, syn);
        dialogue.back(100, answer.with_syn_options(options));
        dialogue.out(100, data(1, 0));
        dialogue
    }

    /// Sends a segment from the client, at a time in milliseconds.
    fn out(&mut self, ms: u64, segment: Segment) -> SegmentKind {
        self.packet(ms, segment, true, Codepoint::NotEct)
    }

    /// Sends a segment from the server, at a time in milliseconds.
    fn back(&mut self, ms: u64, segment: Segment) -> SegmentKind {
        self.packet(ms, segment, false, Codepoint::NotEct)
    }

    fn packet(&mut self, ms: u64, segment: Segment, out: bool, ecn: Codepoint) -> SegmentKind {
        let client =
            Addresses { source: ([10, 0, 0, 1], 40_000 + self.ports).into(), destination: ([10, 0, 0, 2], 80).into() };
        let addresses = if out { client } else { client.reversed() };
        let mut bytes = Vec::new();
        let ip = IpFields { ecn, ..IpFields::default() };
        encode(&mut bytes, &addresses, &ip, &segment, &vec![0; usize::from(segment.len)]);
        self.last = self.analysis.packet(Instant::from_nanos(ms * 1_000_000), Some(&bytes));
        self.last.expect("it is TCP").kind
    }

    fn report(self) -> ConnectionReport {
        self.analysis.finish().connections.remove(0)
    }
}

#[test]
fn a_handshake_gives_options_and_the_first_round_trip_time() {
    let mut dialogue = Dialogue::begun();
    dialogue.out(100, data(1, 1000));
    let fin = flagged(Flags::ACK.with(Flags::FIN), data(1001, 0));
    dialogue.out(110, fin);
    dialogue.back(200, ack(1002, 8));
    dialogue.back(210, flagged(Flags::ACK.with(Flags::FIN), ack(1002, 8)));
    let report = dialogue.report();
    assert_eq!((report.state, report.initial_rtt_s), (State::Complete, Some(0.1)));
    let handshake = report.forward.handshake.unwrap();
    assert_eq!((handshake.mss, handshake.window_scale, handshake.sack_permitted), (Some(1000), Some(7), true));
    assert_eq!((handshake.timestamps, handshake.ecn), (false, EcnOffer::No));
    assert_eq!((report.forward.counts.payload_bytes, report.forward.counts.unique_bytes), (1000, 1000));
    // 8000 bits in the 0.1 s from the segment to its ACK.
    assert_eq!(report.forward.goodput_bps, Some(80_000.0));
    assert_eq!(report.duration_s, 0.21);
}

#[test]
fn a_segment_requested_by_snack_is_a_fast_retransmission() {
    let mut dialogue = Dialogue::begun();
    for n in 0..5 {
        assert_eq!(dialogue.out(100 + u64::from(n), data(1 + 1000 * n, 1000)), SegmentKind::New);
    }
    dialogue.back(205, ack(1, 900).with_snacks(&[Snack { offset: 0, size: 1 }]));
    assert_eq!(dialogue.out(205, data(1, 1000)), SegmentKind::Retransmission(Cause::Fast));
    dialogue.back(310, ack(5001, 1000));
    let report = dialogue.report();
    assert_eq!((report.forward.counts.fast_retransmissions, report.backward.counts.snack_options), (1, 1));
}

#[test]
fn a_segment_requested_by_sack_is_a_fast_retransmission() {
    let mut dialogue = Dialogue::begun();
    for n in 0..5 {
        assert_eq!(dialogue.out(100 + u64::from(n), data(1 + 1000 * n, 1000)), SegmentKind::New);
    }
    // The first one is lost; 5000 sent, 4000 of them reported.
    for n in 2..=5 {
        let kind = dialogue.back(200 + u64::from(n), ack(1, 900).with_sack(&[block(1001, 1 + 1000 * n)]));
        assert_eq!(kind, if n == 2 { SegmentKind::WindowUpdate } else { SegmentKind::DuplicateAck });
    }
    assert_eq!(dialogue.last.unwrap().other_in_flight, 1000);
    assert_eq!(dialogue.out(210, data(1, 1000)), SegmentKind::Retransmission(Cause::Fast));
    dialogue.back(310, ack(5001, 1000));
    let report = dialogue.report();
    let (forward, backward) = (report.forward.counts, report.backward.counts);
    assert_eq!((forward.retransmitted_segments, forward.fast_retransmissions, forward.out_of_order), (1, 1, 0));
    assert_eq!((forward.unique_bytes, forward.repeated_bytes, forward.max_in_flight_bytes), (5000, 1000, 5000));
    assert_eq!((backward.duplicate_acks, backward.window_updates, backward.sack_blocks), (3, 1, 4));
    // Segments 2 to 5 left at 101 to 104 ms and were reported at 202 to 205; the first was sent twice (Karn).
    let rtt = report.forward.rtt.unwrap();
    assert_eq!((rtt.samples, rtt.min_s, rtt.max_s), (4, 0.101, 0.101));
}

#[test]
fn retransmissions_after_a_timeout_are_attributed_to_it() {
    let mut dialogue = Dialogue::begun();
    for n in 0..3 {
        dialogue.out(100, data(1 + 1000 * n, 1000));
    }
    // SRTT is 100 ms: no timer expires before 300 ms after that.
    assert_eq!(dialogue.out(420, data(1, 1000)), SegmentKind::Retransmission(Cause::Timeout));
    dialogue.back(520, ack(1001, 500));
    assert_eq!(dialogue.out(521, data(1001, 1000)), SegmentKind::Retransmission(Cause::Timeout));
    dialogue.back(620, ack(3001, 500));
    let counts = dialogue.report().forward.counts;
    assert_eq!((counts.retransmitted_segments, counts.timeout_retransmissions), (2, 2));
}

#[test]
fn the_last_segment_again_after_two_round_trips_is_a_tail_probe() {
    let mut dialogue = Dialogue::begun();
    for n in 0..3 {
        dialogue.out(100, data(1 + 1000 * n, 1000));
    }
    assert_eq!(dialogue.out(301, data(2001, 1000)), SegmentKind::Retransmission(Cause::TailProbe));
}

#[test]
fn the_last_of_several_segments_again_is_a_probe_however_soon() {
    let mut dialogue = Dialogue::begun();
    dialogue.out(100, data(1, 1000));
    // The timer of the first segment expires in 12 ms; a probe does not leave later than that.
    for n in 1..4 {
        dialogue.out(408, data(1 + 1000 * n, 1000));
    }
    assert_eq!(dialogue.out(420, data(3001, 1000)), SegmentKind::Retransmission(Cause::TailProbe));
    // A later retransmission follows the report, however long ago the data was sent.
    dialogue.back(520, ack(1, 900).with_sack(&[block(1001, 4001)]));
    assert_eq!(dialogue.out(520, data(1, 1000)), SegmentKind::Retransmission(Cause::Fast));
}

#[test]
fn a_dsack_marks_a_retransmission_as_spurious() {
    let mut dialogue = Dialogue::begun();
    dialogue.out(100, data(1, 1000));
    dialogue.out(450, data(1, 1000));
    dialogue.back(460, ack(1001, 500));
    dialogue.back(550, ack(1001, 500).with_sack(&[block(1, 1001)]));
    assert_eq!(dialogue.last.unwrap().twice, Some((1, 1001)));
    let report = dialogue.report();
    assert_eq!((report.forward.counts.spurious_retransmissions, report.backward.counts.dsack_blocks), (1, 1));
}

#[test]
fn overtaken_data_is_distinguished_from_lost_data_by_time_and_by_timestamp() {
    for (ms, stamp, lost) in [(120, None, false), (230, None, true), (120, Some(2), true), (230, Some(0), false)] {
        let stamped = |segment: Segment, value| match stamp {
            None => segment,
            Some(_) => segment.with_timestamps(Timestamps { value, echo: 0 }),
        };
        let mut dialogue = Dialogue::begun();
        dialogue.out(110, stamped(data(1001, 1000), 1));
        let kind = dialogue.out(ms, stamped(data(1, 1000), stamp.unwrap_or(0)));
        assert_eq!(kind == SegmentKind::OutOfOrder, !lost, "{ms} {stamp:?}");
        let counts = dialogue.report().forward.counts;
        assert_eq!((counts.out_of_order, counts.lost_before), (u64::from(!lost), u64::from(lost)));
        assert_eq!((counts.unique_bytes, counts.repeated_bytes), (2000, 0));
    }
}

#[test]
fn acknowledged_data_that_was_never_seen_is_a_gap() {
    let mut dialogue = Dialogue::begun();
    dialogue.out(100, data(1, 1000));
    dialogue.out(101, data(3001, 1000));
    dialogue.back(200, ack(6001, 500));
    let report = dialogue.report();
    // 1001 to 3000, and 4001 to 6000.
    assert_eq!((report.forward.gaps, report.forward.gap_bytes), (2, 4000));
}

#[test]
fn a_closed_window_its_probes_and_their_replies_are_not_duplicates() {
    let mut dialogue = Dialogue::begun();
    dialogue.out(100, data(1, 1000));
    dialogue.back(200, ack(1001, 0));
    assert_eq!(dialogue.out(500, data(1001, 1)), SegmentKind::WindowProbe);
    assert_eq!(dialogue.back(600, ack(1001, 0)), SegmentKind::Ack);
    assert_eq!(dialogue.out(1000, data(1001, 1)), SegmentKind::WindowProbe);
    // The byte is accepted.
    assert_eq!(dialogue.back(1100, ack(1002, 0)), SegmentKind::Ack);
    assert_eq!(dialogue.out(1500, data(1001, 0)), SegmentKind::KeepAlive);
    assert_eq!(dialogue.back(1600, ack(1002, 8)), SegmentKind::WindowUpdate);
    assert_eq!(dialogue.out(1600, data(1002, 1000)), SegmentKind::New);
    let report = dialogue.report();
    let counts = report.forward.counts;
    assert_eq!((counts.window_probes, counts.keep_alives, counts.retransmitted_segments), (2, 1, 0));
    assert_eq!((counts.payload_bytes, counts.unique_bytes, counts.repeated_bytes), (2002, 2001, 1));
    assert_eq!((report.backward.counts.zero_windows, report.backward.counts.duplicate_acks), (3, 0));
}

#[test]
fn a_probe_that_opens_the_window_may_have_carried_its_byte() {
    for again in [false, true] {
        let mut dialogue = Dialogue::begun();
        dialogue.out(100, data(1, 1000));
        dialogue.back(200, ack(1001, 0));
        assert_eq!(dialogue.out(500, data(1001, 1)), SegmentKind::WindowProbe);
        assert_eq!(dialogue.back(600, ack(1002, 9)), SegmentKind::Ack);
        assert_eq!(dialogue.out(600, data(1002 - u32::from(again), 1000)), SegmentKind::New);
        dialogue.back(700, ack(2002 - u32::from(again), 9));
        let forward = dialogue.report().forward;
        assert_eq!((forward.counts.retransmitted_segments, forward.gaps), (0, 0));
        assert_eq!(
            (forward.counts.unique_bytes, forward.counts.repeated_bytes),
            (2001 - u64::from(again), u64::from(again))
        );
    }
}

#[test]
fn the_scaled_window_is_full_at_its_edge() {
    let mut dialogue = Dialogue::begun();
    // 8 << 7 = 1024.
    dialogue.back(100, ack(1, 8));
    dialogue.out(110, data(1, 1000));
    dialogue.out(120, data(1001, 24));
    assert_eq!(dialogue.report().forward.counts.window_full, 1);
}

#[test]
fn marks_and_echoes_are_counted_except_in_the_handshake() {
    let mut dialogue = Dialogue::begun();
    dialogue.packet(110, data(1, 1000), true, Codepoint::Ect0);
    dialogue.packet(111, data(1001, 1000), true, Codepoint::Ce);
    dialogue.back(200, flagged(Flags::ACK.with(Flags::ECE), ack(2001, 9)));
    dialogue.out(210, flagged(Flags::ACK.with(Flags::CWR), data(2001, 10)));
    let report = dialogue.report();
    let counts = report.forward.counts;
    assert_eq!((counts.ect_packets, counts.ce_packets, counts.cwr_segments), (2, 1, 1));
    assert_eq!(report.backward.counts.ece_segments, 1);
}

#[test]
fn ports_that_are_used_again_make_another_connection() {
    let mut dialogue = Dialogue::begun();
    dialogue.out(200, flagged(Flags::RST, data(1, 0)));
    dialogue.out(300, Segment::new(SeqNumber(5), SeqNumber(0), 1000, Flags::SYN));
    let connections = dialogue.analysis.finish().connections;
    assert_eq!(connections.iter().map(|each| each.state).collect::<Vec<_>>(), [State::Reset, State::Open]);
    assert_eq!(connections[1].start_s, 0.3);
}

#[test]
fn connections_beyond_the_limits_are_counted_in_total() {
    let limits = Limits { live: 4, kept: 3 };
    let mut dialogue = Dialogue { analysis: Analysis::new(limits), last: None, ports: 0 };
    for n in 0..100 {
        dialogue.ports = n;
        for packet in 0..=u32::from(n % 10 == 0) {
            dialogue.out(1000 * u64::from(n), data(1 + 100 * packet, 100));
        }
    }
    let report = dialogue.analysis.finish();
    assert!(report.connections.len() <= 3, "{}", report.connections.len());
    assert!(
        report.connections.iter().all(|each| each.forward.counts.packets == 2),
        "connections with the maximum number of packets"
    );
    assert_eq!(report.omitted.connections + report.connections.len() as u64, 100);
    assert_eq!(report.omitted.packets + 2 * report.connections.len() as u64, 110);
}

#[test]
fn other_packets_than_tcp_are_counted_by_kind() {
    let mut analysis = Analysis::new(Limits::default());
    let mut udp = [0; 28];
    (udp[0], udp[3], udp[9]) = (0x45, 28, 17);
    for packet in [Some(&udp[..]), Some(&udp[..10]), Some(&[0x10][..]), None, None] {
        assert_eq!(analysis.packet(Instant::ZERO, packet), None);
    }
    let report = analysis.finish();
    let others: Vec<_> = report.others.iter().map(|(kind, count)| (kind.as_str(), *count)).collect();
    assert_eq!(others, [("UDP", 1), ("cut header", 1), ("not IP", 3)]);
}

/// Returns the report on three rounds of `data` segments from the server, sent 10 ms apart and each acknowledged
/// immediately by the client. The next round starts when the server gets the first ACK or, if it is `idle`, long after
/// the last one. The capture is at the client, and the round-trip time is 100 ms.
fn rounds_of_the_server(idle: bool, data: u32) -> ConnectionReport {
    let mut dialogue = Dialogue::begun();
    let (mut time, mut seq, mut echo) = (200, SERVER + 1, 1);
    for _ in 0..3 {
        let first = time;
        for n in 0..data {
            let flags = if n + 1 == data { Flags::ACK.with(Flags::PSH) } else { Flags::ACK };
            let mut segment = Segment::new(SeqNumber(seq), SeqNumber(CLIENT).plus(1), 500, flags);
            segment.len = 1000;
            // Until the first ACK of the round comes back, all segments echo the last one of the round before.
            let stamps = Timestamps { value: time as u32, echo };
            dialogue.back(time, segment.with_timestamps(stamps));
            seq += 1000;
            let ack = Segment::new(SeqNumber(CLIENT).plus(1), SeqNumber(seq), 500, Flags::ACK);
            dialogue.out(time, ack.with_timestamps(Timestamps { value: 10_000 + time as u32, echo: time as u32 }));
            time += 10;
        }
        let last = time - 10;
        (time, echo) = if idle { (last + 5_000, 10_000 + last as u32) } else { (first + 100, 10_000 + first as u32) };
    }
    dialogue.report()
}

#[test]
fn timestamps_of_a_receiver_give_the_round_trip_of_the_path() {
    let report = rounds_of_the_server(false, 5);
    let rtt = report.forward.rtt.unwrap();
    assert_eq!((rtt.by, rtt.samples, rtt.min_s, rtt.max_s), (Measure::Timestamp, 2, 0.1, 0.1));
    assert_eq!((report.vantage, report.rtt_s), (Some(Vantage::Receiver), Some(0.1)));
    assert_eq!(report.backward.rtt.unwrap().max_s, 0.0, "the receiver itself");
}

#[test]
fn time_without_data_is_not_a_round_trip() {
    for data in [1, 5] {
        let report = rounds_of_the_server(true, data);
        assert_eq!(report.forward.rtt, None);
        assert_eq!((report.vantage, report.rtt_s), (Some(Vantage::Receiver), Some(0.1)));
    }
}

#[test]
fn a_handshake_whose_options_are_cut_is_unknown() {
    let mut analysis = Analysis::new(Limits::default());
    let there = Addresses { source: ([10, 0, 0, 1], 40_000).into(), destination: ([10, 0, 0, 2], 80).into() };
    let options = SynOptions { mss: Some(1000), window_scale: Some(7), sack_permitted: true };
    let syn = Segment::new(SeqNumber(CLIENT), SeqNumber(0), 1000, Flags::SYN).with_syn_options(options);
    let mut bytes = Vec::new();
    encode(&mut bytes, &there, &IpFields::default(), &syn, &[]);
    let cut = Captured { bytes: &bytes[..44], wire_len: bytes.len() };
    analysis.ip(Instant::ZERO, cut, true);
    let seen = analysis.ip(Instant::from_nanos(1_000_000), cut, true).unwrap();
    assert_eq!(seen.kind, SegmentKind::Retransmission(Cause::Timeout));
    let connection = analysis.finish().connections.remove(0);
    assert_eq!((connection.forward.handshake, connection.forward.counts.cut_headers), (None, 2));
}

#[test]
fn packets_without_a_time_give_no_times() {
    let mut analysis = Analysis::new(Limits::default());
    let there = Addresses { source: ([10, 0, 0, 1], 40_000).into(), destination: ([10, 0, 0, 2], 80).into() };
    for (out, segment) in [(true, data(1, 1000)), (false, ack(1001, 9))] {
        let mut bytes = Vec::new();
        let addresses = if out { there } else { there.reversed() };
        encode(&mut bytes, &addresses, &IpFields::default(), &segment, &vec![0; usize::from(segment.len)]);
        analysis.ip(Instant::ZERO, (&bytes).into(), false);
    }
    let connection = analysis.finish().connections.remove(0);
    let forward = &connection.forward;
    assert_eq!((forward.counts.unique_bytes, connection.has_times), (1000, false));
    assert_eq!((forward.rtt, forward.goodput_bps, forward.data_s, connection.rtt_s), (None, None, None, None));
}

#[test]
fn a_clock_that_jumps_is_survived() {
    // Without a handshake the first round-trip time is one of 584 years.
    let mut analysis = Analysis::new(Limits::default());
    let mut bytes = Vec::new();
    let there = Addresses { source: ([10, 0, 0, 1], 40_000).into(), destination: ([10, 0, 0, 2], 80).into() };
    for (time, out, segment) in [
        (1, true, data(1, 1000)),
        (u64::MAX, false, ack(1001, 900)),
        (0, true, data(1001, 1000)),
        (u64::MAX, true, data(1001, 1000)),
        (5, false, ack(2001, 900)),
    ] {
        let addresses = if out { there } else { there.reversed() };
        encode(&mut bytes, &addresses, &IpFields::default(), &segment, &vec![0; usize::from(segment.len)]);
        analysis.packet(Instant::from_nanos(time), Some(&bytes));
    }
    let forward = &analysis.finish().connections[0].forward;
    assert_eq!(forward.counts.retransmitted_segments, 1);
    assert!(forward.rtt.unwrap().max_s > 1e10);
}

#[test]
fn losses_have_the_position_of_the_lost_segment() {
    let mut dialogue = Dialogue::begun();
    let mut trace = trace::Trace::new(0, 100);
    let mut sent = |dialogue: &mut Dialogue, ms, segment, out| {
        dialogue.packet(ms, segment, out, Codepoint::NotEct);
        trace.observe(&dialogue.last.unwrap());
    };
    for n in 0..4 {
        sent(&mut dialogue, 110 + u64::from(n), data(1 + 1000 * n, 1000), true);
    }
    // The second is lost, and retransmitted as the fifth, which is lost as well; the third arrives twice.
    sent(&mut dialogue, 215, data(1001, 1000), true);
    sent(&mut dialogue, 216, data(2001, 1000), true);
    sent(&mut dialogue, 600, data(1001, 1000), true);
    sent(&mut dialogue, 700, ack(4001, 900).with_sack(&[block(2001, 3001)]), false);
    let losses: Vec<u64> = trace.losses(Side::Client).iter().map(|loss| loss.position).collect();
    assert_eq!(losses, [2, 5]);
}

#[test]
fn a_trace_beyond_its_limit_is_decimated_and_keeps_retransmissions() {
    let mut dialogue = Dialogue::begun();
    let mut trace = trace::Trace::new(0, 16);
    for n in 0..200 {
        dialogue.out(110 + u64::from(n), data(1 + 1000 * (n - u32::from(n == 50)), 1000));
        trace.observe(&dialogue.last.unwrap());
    }
    assert!(trace.is_thinned() && trace.rows().len() <= 17);
    assert_eq!(trace.rows().iter().filter(|row| matches!(row.kind, SegmentKind::Retransmission(_))).count(), 1);
}
