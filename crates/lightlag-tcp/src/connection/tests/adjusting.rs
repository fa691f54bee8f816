//! Settings that a host changes, and state that it reads, during a connection.

use super::*;
use crate::config::{DelayedAck, KeepAliveConfig};
use lightlag_core::{Bytes, Duration};

fn data(seq: u32, len: u16, value: u32) -> Segment {
    segment(seq, 1, len, Flags::ACK, value)
}

#[test]
fn buffered_data_rises_only_with_accepted_data() {
    let mut client = established(config());
    assert_eq!(client.receive_offset(REMOTE.plus(1)), Some(0));
    client.handle_segment(at(110), &data(1, 500, 510));
    assert_eq!((client.held(), client.received()), (500, 500));
    client.handle_segment(at(120), &data(1_001, 500, 520));
    assert_eq!((client.held(), client.received()), (1_000, 500), "data above a hole counts");
    client.handle_segment(at(130), &data(1, 500, 520));
    assert_eq!(client.held(), 1_000, "a copy does not");
    client.handle_segment(at(130), &data(501, 500, 1));
    assert_eq!(client.held(), 1_000, "PAWS rejects an old timestamp");
    client.handle_segment(at(130), &data(2_000_000, 500, 520));
    assert_eq!(client.held(), 1_000, "data beyond the window is rejected");
    client.handle_segment(at(140), &data(501, 500, 530));
    assert_eq!((client.held(), client.received()), (1_500, 1_500));
}

#[test]
fn nagle_can_be_switched_off_while_a_small_segment_waits() {
    let mut client = established(Config { nagle: true, ..config() });
    client.write(100);
    assert_eq!(drain(&mut client, at(110)).len(), 1);
    client.write(100);
    assert_eq!(drain(&mut client, at(110)).len(), 0);
    client.set_nagle(false);
    assert_eq!(drain(&mut client, at(110))[0].len, 100);
}

#[test]
fn quick_acks_release_the_one_that_waits() {
    let delayed = DelayedAck { segments: 2, timeout: Duration::from_millis(40), quick: 0, adaptive: false };
    let mut client = established(Config { delayed_ack: Some(delayed), ..config() });
    client.handle_segment(at(110), &data(1, 500, 510));
    assert_eq!(drain(&mut client, at(110)).len(), 0);
    client.acknowledge_at_once(1);
    assert_eq!(drain(&mut client, at(110)).len(), 1);
    client.handle_segment(at(120), &data(501, 500, 510));
    assert_eq!(drain(&mut client, at(120)).len(), 1, "the next one is quick");
    client.handle_segment(at(130), &data(1_001, 500, 510));
    assert_eq!(drain(&mut client, at(130)).len(), 0, "the one after it is not");
}

#[test]
fn keep_alive_starts_when_it_is_switched_on() {
    let mut client = established(config());
    assert_eq!(client.poll_timeout(), None);
    let timing = KeepAliveConfig { idle: Duration::from_secs(10), interval: Duration::from_secs(1), probes: 2 };
    client.set_keep_alive(at(1_000), Some(timing));
    assert_eq!(client.poll_timeout(), Some(at(11_000)));
    client.handle_timeout(at(11_000));
    assert_eq!(drain(&mut client, at(11_000)).len(), 1);
    client.set_keep_alive(at(11_500), None);
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn the_congestion_control_can_be_chosen_until_data_leaves() {
    use lightlag_control::congestion::Choice;
    let mut client = established(config());
    assert!(client.choose_congestion(Choice::named("cubic")));
    client.write(1);
    assert_eq!(drain(&mut client, at(110)).len(), 1);
    assert!(!client.choose_congestion(Choice::named("newreno")));
    assert_eq!(client.config().congestion.name(), "cubic");
}

#[test]
fn a_smaller_buffer_keeps_the_advertised_window() {
    let mut client = established(config());
    let edge = client.receive_edge();
    client.set_receive_buffer(Bytes(2_000));
    client.read_later();
    client.handle_segment(at(110), &data(1, 500, 510));
    let ack = drain(&mut client, at(110))[0];
    assert_eq!(u64::from(ack.window), edge - 500);
    assert_eq!(client.details().receive_buffer, 2_000);
}

#[test]
fn details_count_outstanding_data() {
    let mut client = established(config());
    client.write(2_500);
    assert_eq!(drain(&mut client, at(110)).len(), 3);
    let details = client.details();
    assert_eq!((details.counts.unacked, details.counts.sacked, details.counts.lost), (3, 0, 0));
    assert_eq!((client.sent(), client.acknowledged(), client.all_acknowledged()), (2_500, 0, false));
    client.handle_segment(at(200), &segment(1, 2_501, 0, Flags::ACK, 600));
    assert_eq!((client.acknowledged(), client.all_acknowledged()), (2_500, true));
}

#[test]
fn a_reset_gets_no_reset() {
    let stray = segment(1, 1, 10, Flags::ACK, 1);
    assert_eq!(reset_for(&stray).map(|reset| (reset.seq, reset.flags)), Some((LOCAL.plus(1), Flags::RST)));
    let stray = segment(1, 1, 0, Flags::RST, 1);
    assert_eq!(reset_for(&stray), None);
    let stray = segment(0, 0, 0, Flags::SYN, 1);
    assert_eq!(
        reset_for(&stray).map(|reset| (reset.ack, reset.flags)),
        Some((REMOTE.plus(1), Flags::RST.with(Flags::ACK)))
    );
}

fn closed_window(value: u32) -> Segment {
    let mut ack = segment(1, 1, 0, Flags::ACK, value);
    ack.window = 0;
    ack
}

/// Returns the retransmission times in ms of a connection whose peer does not reply, and the time and reason of its
/// abort.
fn unanswered(client: &mut Connection) -> (Vec<u64>, u64, Option<Failure>) {
    let mut left = Vec::new();
    loop {
        let now = client.poll_timeout().unwrap();
        client.handle_timeout(now);
        let millis = now.as_nanos() / 1_000_000;
        if client.state() == State::Closed {
            return (left, millis, client.statistics().failure);
        }
        left.extend(drain(client, now).iter().map(|_| millis));
    }
}

#[test]
fn the_user_timeout_runs_from_the_first_repetition_and_cuts_the_last_timer_short() {
    let mut client = established(config());
    client.set_user_timeout(Duration::from_secs(3));
    client.write(1_000);
    drain(&mut client, at(100));
    // A tail loss probe; after it an RTO of 1 s, then of 2 s; then the remaining second instead of 4 s.
    assert_eq!(unanswered(&mut client), (vec![500, 1_500, 3_500], 4_500, Some(Failure::Timeout)));
}

#[test]
fn the_user_timeout_ends_the_wait_for_a_closed_window_although_its_probes_get_replies() {
    let mut client = established(Config { probe: crate::config::Probe::Empty, ..config() });
    client.handle_segment(at(100), &closed_window(600));
    client.set_user_timeout(Duration::from_secs(5));
    client.write(1_000);
    assert!(drain(&mut client, at(100)).is_empty());
    let mut probes = Vec::new();
    while client.state() != State::Closed {
        let now = client.poll_timeout().unwrap();
        client.handle_timeout(now);
        let millis = now.as_nanos() / 1_000_000;
        for probe in drain(&mut client, now) {
            assert_eq!(probe.len, 0);
            probes.push(millis);
            client.handle_segment(now, &closed_window(600 + millis as u32));
            drain(&mut client, now);
        }
    }
    // Doubled from 1 s, and limited to 5 s after the first.
    assert_eq!(probes, [1_100, 3_100]);
    assert_eq!(client.statistics().failure, Some(Failure::ProbeTimeout));
}

#[test]
fn a_handshake_also_has_the_user_timeout() {
    let mut client = Connection::client(Arc::new(config()), LOCAL);
    client.set_user_timeout(Duration::from_millis(1_500));
    client.open(at(0));
    drain(&mut client, at(0));
    assert_eq!(unanswered(&mut client), (vec![1_000], 2_500, Some(Failure::SynTimeout)));
}

#[test]
fn no_segment_crosses_the_end_of_a_record() {
    let mut client = established(Config { nagle: false, ..config() });
    for bytes in [400, 1_500, 0, 300] {
        client.write(bytes);
        client.end_record();
    }
    client.write(1_200);
    let lens: Vec<u16> = drain(&mut client, at(100)).iter().map(|segment| segment.len).collect();
    assert_eq!(lens, [400, 1_000, 500, 300, 1_000, 200]);
}
