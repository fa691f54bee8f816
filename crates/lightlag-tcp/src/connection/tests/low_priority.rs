//! Low-priority segments: which are sent, how the peer replies, and which state they must not change.

use super::*;
use lightlag_control::congestion::Choice;

const LOW: Flags = Flags(Flags::ACK.0 | Flags::LOW.0);

fn prober(name: &str, window: u32) -> Connection {
    established(Config { congestion: Choice::named(name), initial_window: window, ..config() })
}

/// Runs the timers until `end`. Returns the segments sent, with their times in microseconds.
fn run_until(client: &mut Connection, end: Instant) -> Vec<(u64, Segment)> {
    let mut sent = Vec::new();
    while let Some(due) = client.poll_timeout().filter(|due| *due <= end) {
        client.handle_timeout(due);
        sent.extend(drain(client, due).into_iter().map(|segment| (due.as_nanos() / 1_000, segment)));
    }
    sent
}

/// Returns for each of `segments` the index of the segment whose data it copies.
fn copied<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Vec<u32> {
    segments.into_iter().map(|segment| (segment.seq.0 - LOCAL.0 - 1) / 1_000).collect()
}

#[test]
fn each_copy_gets_its_own_ack_immediately_and_carries_no_information() {
    let mut client = established(config());
    client.handle_segment(at(200), &segment(1, 1, 1_000, Flags::ACK, 600));
    drain(&mut client, at(200));
    for _ in 0..3 {
        client.handle_segment(at(300), &segment(1, 1, 1_000, LOW, 600));
    }
    let answers = drain(&mut client, at(300));
    assert_eq!(answers.len(), 3);
    for answer in answers {
        // No D-SACK: the sender expects the copy.
        assert_eq!((answer.flags, answer.len, answer.ack, answer.sack().len()), (LOW, 0, REMOTE.plus(1_001), 0));
    }
    assert_eq!((client.received(), client.statistics().duplicate_bytes), (1_000, 0));
}

#[test]
fn a_copy_delayed_by_low_priority_gets_an_ack_although_its_timestamp_is_old() {
    let mut client = established(config());
    client.handle_segment(at(200), &segment(1, 1, 1_000, Flags::ACK, 700));
    drain(&mut client, at(200));
    client.handle_segment(at(300), &segment(1, 1, 1_000, LOW, 600));
    assert_eq!(drain(&mut client, at(300))[0].flags, LOW);
    // Its timestamp is not the one to echo.
    client.handle_segment(at(300), &segment(1_001, 1, 1_000, Flags::ACK, 700));
    assert_eq!(drain(&mut client, at(300))[0].timestamps().unwrap().echo, 700);
}

#[test]
fn a_copy_fills_a_hole() {
    let mut client = established(config());
    client.handle_segment(at(200), &segment(1_001, 1, 1_000, Flags::ACK, 600));
    drain(&mut client, at(200));
    client.handle_segment(at(300), &segment(1_001, 1, 1_000, LOW, 600));
    let answer = drain(&mut client, at(300))[0];
    assert_eq!((answer.flags, answer.ack, answer.sack().len()), (LOW, REMOTE.plus(1), 1));
    client.handle_segment(at(300), &segment(1, 1, 1_000, LOW, 600));
    let answers = drain(&mut client, at(300));
    assert_eq!((answers.len(), answers[0].flags, answers[0].ack), (1, LOW, REMOTE.plus(2_001)));
    assert_eq!(client.received(), 2_000);
}

#[test]
fn an_impossible_copy_is_dropped() {
    let mut client = established(config());
    let edge = u32::try_from(client.receive_edge()).unwrap();
    for strange in [
        segment(1, 1, 0, LOW.with(Flags::RST), 600),
        segment(1, 1, 0, LOW.with(Flags::SYN), 600),
        segment(1, 1, 100, LOW.with(Flags::FIN), 600),
        segment(1, 1, 100, Flags::LOW, 600),
        segment(edge, 1, 1_000, LOW, 600),
    ] {
        client.handle_segment(at(200), &strange);
        assert_eq!((drain(&mut client, at(200)), client.received()), (vec![], 0), "{strange:?}");
        assert_eq!(client.state(), State::Established);
    }
}

#[test]
fn sudden_start_copies_the_last_segment_at_its_pace() {
    // The peer's window is 60,000 B: 60 segments in 100 ms.
    let mut client = prober("peach", 2);
    client.write(u64::MAX >> 1);
    let data = drain(&mut client, at(100));
    assert_eq!((copied(&data), data[1].flags), (vec![0, 1], Flags::ACK));
    let probes = run_until(&mut client, at(199));
    assert_eq!(probes.len(), 58);
    for (n, (micros, probe)) in probes.iter().enumerate() {
        assert_eq!((probe.flags, probe.len, probe.seq), (LOW, 1_000, LOCAL.plus(1_001)));
        let due = 100_000 + (n as u64 + 1) * 100_000 / 60;
        assert!(micros.abs_diff(due) <= 1, "probe {n} at {micros} µs, not {due} µs");
    }
    let (statistics, state) = (client.statistics(), client.snapshot());
    assert_eq!((statistics.sent_segments, statistics.low_priority_sent), (2, 58));
    assert_eq!((state.inflight, state.snd_nxt, state.cwnd), (2_000, 2_000, 2_000));
}

#[test]
fn the_ack_of_a_probe_opens_the_window_and_is_not_a_duplicate_ack() {
    let mut client = prober("peach", 2);
    client.write(u64::MAX >> 1);
    drain(&mut client, at(100));
    run_until(&mut client, at(199));
    for n in 1..=10 {
        client.handle_segment(at(200 + n), &segment(1, 1, 0, LOW, 600));
        assert_eq!(client.snapshot().cwnd, 2_000 + n * 1_000);
        assert_eq!(copied(&drain(&mut client, at(200 + n))), [1 + n as u32]);
    }
    assert_eq!((client.statistics().recoveries, client.statistics().low_priority_acked), (0, 10));
    // It takes no round-trip sample, which could belong to a copy.
    let samples = client.statistics().rtt_count;
    client.handle_segment(at(290), &segment(1, 2_001, 0, LOW, 600));
    assert_eq!(client.snapshot().snd_una, 2_000);
    assert_eq!(client.statistics().rtt_count, samples);
}

#[test]
fn nil_segments_copy_outstanding_unsacked_data_in_turns() {
    let mut client = prober("peach+", 5);
    client.write(u64::MAX >> 1);
    drain(&mut client, at(100));
    let first: Vec<Segment> = run_until(&mut client, at(112)).into_iter().map(|(_, probe)| probe).collect();
    assert_eq!(copied(&first), [0, 1, 2, 3, 4, 0, 1]);
    // 1 and 3 are SACKed, and three new segments are sent: 7, 0, 1, 2, 3 of eight, and the next ones instead of the
    // SACKed.
    let block = |n: u32| SackBlock { start: LOCAL.plus(1 + n * 1_000), end: LOCAL.plus(1 + (n + 1) * 1_000) };
    client.handle_segment(at(112), &segment(1, 1, 0, LOW, 600).with_sack(&[block(3), block(1)]));
    let then: Vec<Segment> = run_until(&mut client, at(121)).into_iter().map(|(_, probe)| probe).collect();
    let copies: Vec<&Segment> = then.iter().filter(|segment| segment.is_low_priority()).collect();
    assert_eq!(copied(copies.into_iter().take(5)), [7, 0, 2, 2, 4]);
}

#[test]
fn nothing_is_copied_once_all_is_acknowledged() {
    let mut client = prober("peach", 2);
    client.write(2_000);
    drain(&mut client, at(100));
    assert_eq!(run_until(&mut client, at(110)).len(), 5);
    client.handle_segment(at(110), &segment(1, 2_001, 0, Flags::ACK, 600));
    drain(&mut client, at(110));
    assert_eq!(run_until(&mut client, at(400)), []);
}

#[test]
fn a_copy_that_arrives_after_the_end_causes_no_reset() {
    let mut client = established(config());
    client.abort();
    assert_eq!((drain(&mut client, at(200)).len(), client.state()), (1, State::Closed));
    client.handle_segment(at(300), &segment(1, 1, 1_000, LOW, 600));
    assert_eq!(drain(&mut client, at(300)), []);
    client.handle_segment(at(300), &segment(1, 1, 1_000, Flags::ACK, 600));
    assert!(drain(&mut client, at(300))[0].flags.has(Flags::RST));
}
