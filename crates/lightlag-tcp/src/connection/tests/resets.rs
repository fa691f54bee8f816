use super::*;

const SYN_ACK: Flags = Flags::SYN.with(Flags::ACK);

fn opened() -> Connection {
    let mut client = Connection::client(Arc::new(config()), LOCAL);
    client.open(at(0));
    drain(&mut client, at(0));
    client
}

fn server() -> Connection {
    Connection::server(Arc::new(config()), LOCAL)
}

/// Returns the sequence number, acknowledgement number and flags of the only segment that is sent.
fn only(end: &mut Connection, now: Instant) -> (u32, u32, Flags) {
    let sent = drain(end, now);
    assert_eq!(sent.len(), 1, "{sent:?}");
    (sent[0].seq.0, sent[0].ack.0, sent[0].flags)
}

#[test]
fn a_segment_without_a_connection_is_reset() {
    // RFC 9293 §3.10.7.1: a segment with ACK gets a reset at its number, any other one at zero that acknowledges all of
    // it.
    let mut closed = Connection::client(Arc::new(config()), LOCAL);
    let plain = |flags, len| {
        let mut segment = Segment::new(SeqNumber(7_000), SeqNumber(3_000), 100, flags);
        segment.len = len;
        segment
    };
    closed.handle_segment(at(0), &plain(Flags::ACK, 10));
    assert_eq!(only(&mut closed, at(0)), (3_000, 0, Flags::RST));
    closed.handle_segment(at(0), &plain(Flags::SYN.with(Flags::FIN), 10));
    assert_eq!(only(&mut closed, at(0)), (0, 7_012, Flags::RST.with(Flags::ACK)));
    closed.handle_segment(at(0), &plain(Flags::RST, 0));
    assert_eq!(drain(&mut closed, at(0)), []);
}

#[test]
fn a_listener_resets_acks_and_stays() {
    // §3.10.7.2.
    let mut server = server();
    server.handle_segment(at(0), &segment(1, 500, 0, Flags::ACK, 0));
    assert_eq!(only(&mut server, at(0)), (LOCAL.0 + 500, 0, Flags::RST));
    server.handle_segment(at(0), &segment(1, 500, 0, Flags::RST, 0));
    assert_eq!((server.state(), drain(&mut server, at(0))), (State::Listen, vec![]));
}

#[test]
fn a_reply_to_another_syn_is_reset() {
    // §3.10.7.3: SEG.ACK outside ISS+1..=SND.NXT.
    let mut client = opened();
    client.handle_segment(at(50), &segment(0, 0, 0, SYN_ACK, 0));
    assert_eq!(only(&mut client, at(50)), (LOCAL.0, 0, Flags::RST));
    client.handle_segment(at(50), &segment(0, 2, 0, Flags::RST.with(Flags::ACK), 0));
    assert_eq!((client.state(), drain(&mut client, at(50))), (State::SynSent, vec![]));
    client.handle_segment(at(50), &segment(0, 1, 0, Flags::RST.with(Flags::ACK), 0));
    assert_eq!((client.state(), client.statistics().failure), (State::Closed, Some(Failure::Refused)));
}

#[test]
fn a_restarted_peer_finds_out_that_the_connection_is_half_open() {
    // RFC 9293 §3.5.1 figure 10: SYN, challenge ACK, RST at its number.
    let mut old = established(config());
    let mut restarted = Connection::client(Arc::new(config()), REMOTE.plus(5_000));
    restarted.open(at(200));
    let syn = restarted.poll_segment(at(200)).unwrap();
    old.handle_segment(at(250), &syn);
    let challenge = drain(&mut old, at(250))[0];
    assert_eq!((challenge.seq, challenge.ack), (LOCAL.plus(1), REMOTE.plus(1)));
    restarted.handle_segment(at(300), &challenge);
    let reset = drain(&mut restarted, at(300))[0];
    assert_eq!((reset.flags, reset.seq), (Flags::RST, REMOTE.plus(1)));
    old.handle_segment(at(350), &reset);
    assert_eq!((old.state(), old.statistics().failure), (State::Closed, Some(Failure::Reset)));
}

fn syn_received() -> Connection {
    let mut server = server();
    server.handle_segment(at(0), &Segment::new(REMOTE, SeqNumber(0), 4_096, Flags::SYN));
    assert_eq!(only(&mut server, at(0)), (LOCAL.0, REMOTE.0 + 1, SYN_ACK));
    server
}

#[test]
fn in_syn_received_a_wrong_ack_is_reset_and_a_reset_leads_back() {
    // §3.10.7.4, SYN-RECEIVED.
    let mut server = syn_received();
    for ack in [0, 2] {
        server.handle_segment(at(50), &segment(1, ack, 0, Flags::ACK, 0));
        assert_eq!(only(&mut server, at(50)), (LOCAL.0 + ack, 0, Flags::RST));
        assert_eq!(server.state(), State::SynReceived);
    }
    // Beyond the window: the expected number is repeated.
    server.handle_segment(at(50), &segment(70_000, 1, 0, Flags::ACK, 0));
    assert_eq!(only(&mut server, at(50)), (LOCAL.0 + 1, REMOTE.0 + 1, Flags::ACK));
    server.handle_segment(at(50), &segment(1, 1, 0, Flags::RST, 0));
    assert_eq!((server.state(), server.statistics().failure), (State::Listen, None));
    assert_eq!(server.poll_timeout(), None);
    let mut server = syn_received();
    server.handle_segment(at(50), &segment(9, 1, 0, Flags::SYN, 0));
    assert_eq!(server.state(), State::Listen, "a new SYN inside the window of a passive open");
}

#[test]
fn challenges_are_limited() {
    // RFC 5961 §7: 10 in 5 s.
    let mut client = established(config());
    let challenged = |client: &mut Connection, now| {
        client.handle_segment(now, &segment(501, 1, 0, Flags::RST, 600));
        drain(client, now).len()
    };
    let all: usize = (0..20).map(|n| challenged(&mut client, at(200 + n))).sum();
    assert_eq!(all, 10);
    assert_eq!(challenged(&mut client, at(5_199)), 0);
    assert_eq!(challenged(&mut client, at(5_200)), 1);
    // Linux: one in 500 ms, and also for empty segments outside the window.
    let linux = Config { challenge_acks: Profile::Linux.config().challenge_acks, ..config() };
    let mut client = established(linux);
    let probed = |client: &mut Connection, now| {
        client.handle_segment(now, &segment(0, 1, 0, Flags::ACK, 600));
        drain(client, now).len()
    };
    assert_eq!([200, 300, 699, 700].map(|now| probed(&mut client, at(now))), [1, 0, 0, 1]);
}

#[test]
fn acks_of_the_far_past_are_challenged() {
    // RFC 5961 §5: SND.UNA − MAX.SND.WND ≤ SEG.ACK ≤ SND.NXT. The peer's window is 60,000 bytes.
    let mut client = established(Config { initial_window: 100, initial_window_bytes: None, ..config() });
    client.write(120_000);
    for ack in [60_001, 120_001] {
        drain(&mut client, at(200));
        client.handle_segment(at(200), &segment(1, ack, 0, Flags::ACK, 600));
    }
    drain(&mut client, at(200));
    client.handle_segment(at(300), &segment(1, 60_001, 500, Flags::ACK, 600));
    assert_eq!(client.received(), 500);
    drain(&mut client, at(300));
    client.handle_segment(at(300), &segment(501, 60_000, 500, Flags::ACK, 600));
    assert_eq!((client.received(), drain(&mut client, at(300)).len()), (500, 1));
}

#[test]
fn an_abort_notifies_the_peer() {
    // RFC 9293 §3.10.5.
    let mut client = established(config());
    client.write(2_000);
    drain(&mut client, at(100));
    client.abort();
    let (seq, _, flags) = only(&mut client, at(100));
    assert_eq!((seq, flags.has(Flags::RST)), (LOCAL.0 + 2_001, true));
    assert_eq!((client.state(), client.statistics().failure), (State::Closed, Some(Failure::Aborted)));
    assert_eq!(client.poll_timeout(), None);
    // An end that only sent a SYN sends no reset.
    let mut client = opened();
    client.abort();
    assert_eq!((client.state(), drain(&mut client, at(0))), (State::Closed, vec![]));
}

#[test]
fn data_left_to_read_after_the_end_updates_no_window() {
    let mut connection = established(Config { receive_buffer: lightlag_core::Bytes(2_000), ..config() });
    connection.read_later();
    connection.handle_segment(at(100), &segment(1, 1, 1_000, Flags::ACK, 600));
    drain(&mut connection, at(100));
    assert_eq!((connection.unread(), connection.until_update().is_some()), (1_000, true));
    connection.abort();
    assert_eq!((connection.unread(), connection.until_update()), (1_000, None));
}

#[test]
fn data_is_taken_with_an_ack_that_is_older_than_the_stream_but_not_too_old() {
    // RFC 5961 §5: SND.UNA less the maximum window of the peer, 60,000 bytes.
    let mut client = established(config());
    client.handle_segment(at(200), &segment(1, 0, 500, Flags::ACK, 600));
    assert_eq!(client.received(), 500);
    let mut early = segment(501, 0, 500, Flags::ACK, 610);
    early.ack = SeqNumber(LOCAL.0.wrapping_sub(59_999));
    client.handle_segment(at(210), &early);
    assert_eq!(client.received(), 1_000);
    let mut late = segment(1_001, 0, 500, Flags::ACK, 620);
    late.ack = SeqNumber(LOCAL.0.wrapping_sub(60_000));
    client.handle_segment(at(220), &late);
    assert_eq!(client.received(), 1_000, "and this one is challenged");
}
