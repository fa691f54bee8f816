use super::*;
use crate::config::Probe;

/// Returns a client whose peer acknowledged 5,000 bytes and closed its window at 200 ms, and which has 5,000 more bytes
/// to send. Also returns the segment that closed the window.
fn closed_window(config: Config) -> (Connection, Segment) {
    let mut client = established(config);
    client.write(5_000);
    drain(&mut client, at(100));
    client.write(5_000);
    let mut closed = segment(1, 5_001, 0, Flags::ACK, 600);
    closed.window = 0;
    client.handle_segment(at(200), &closed);
    assert_eq!(drain(&mut client, at(200)), []);
    (client, closed)
}

/// Returns the next probe, and its time in milliseconds after `now`.
fn next_probe(client: &mut Connection, now: &mut Instant) -> (u64, Segment) {
    let due = client.poll_timeout().unwrap();
    let wait = due.since(*now).as_nanos() / 1_000_000;
    *now = due;
    client.handle_timeout(due);
    let sent = drain(client, due);
    assert_eq!(sent.len(), 1, "{sent:?}");
    (wait, sent[0])
}

#[test]
fn stevens_persist_timer_probes_with_a_byte() {
    // 1.5 s doubled each time and bounded by 5 s and 60 s: vol. 2 §25.7, and INET's intention.
    let (mut client, closed) = closed_window(Config { probe: Probe::Byte, ..config() });
    let mut now = at(200);
    let mut waits = Vec::new();
    for _ in 0..8 {
        let (wait, probe) = next_probe(&mut client, &mut now);
        assert_eq!((probe.seq, probe.len), (LOCAL.plus(5_001), 1));
        client.handle_segment(now, &closed);
        assert_eq!(drain(&mut client, now), []);
        waits.push(wait / 1_000);
    }
    assert_eq!(waits, [5, 5, 6, 12, 24, 48, 60, 60]);
    let statistics = client.statistics();
    assert_eq!((statistics.probes, statistics.timeouts, statistics.retransmitted_segments), (8, 0, 0));
    // The window opened, the update was lost, the byte was accepted: everything is sent, starting at that byte.
    client.handle_segment(now, &segment(1, 5_002, 0, Flags::ACK, 600));
    let sent = drain(&mut client, now);
    assert_eq!((sent.len(), sent[0].seq), (5, LOCAL.plus(5_001)));
    client.handle_segment(now, &segment(1, 10_001, 0, Flags::ACK, 600));
    assert_eq!(client.snapshot().snd_una, 10_000);
}

#[test]
fn empty_probes_back_off_with_the_timeout() {
    let (mut client, closed) = closed_window(config());
    let mut now = at(200);
    let waits: Vec<u64> = (0..8)
        .map(|_| {
            let (wait, probe) = next_probe(&mut client, &mut now);
            assert_eq!((probe.seq, probe.len), (LOCAL.plus(5_000), 0));
            client.handle_segment(now, &closed);
            wait
        })
        .collect();
    assert_eq!(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
}

#[test]
fn probes_without_a_reply_end_the_connection() {
    // RFC 9293 §3.8.6.1: for ever while the peer replies; up to R2 if it does not.
    let (mut client, _) = closed_window(Config { retries: 3, ..config() });
    let mut now = at(200);
    for _ in 0..3 {
        next_probe(&mut client, &mut now);
    }
    client.handle_timeout(client.poll_timeout().unwrap());
    assert_eq!((client.state(), client.statistics().failure), (State::Closed, Some(Failure::ProbeTimeout)));
}
