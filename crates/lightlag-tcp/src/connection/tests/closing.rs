use super::*;
use crate::config::KeepAliveConfig;

const FIN: Flags = Flags::FIN.with(Flags::ACK);

/// Returns a client in FIN-WAIT-2: its FIN was sent and acknowledged.
fn fin_wait_2(config: Config) -> Connection {
    let mut client = established(config);
    client.close();
    assert_eq!(drain(&mut client, at(100)).len(), 1);
    client.handle_segment(at(200), &segment(1, 2, 0, Flags::ACK, 600));
    assert_eq!(client.state(), State::FinWait2);
    client
}

#[test]
fn after_our_fin_the_peer_may_still_send() {
    // RFC 9293 §3.6, half-close.
    let mut client = fin_wait_2(config());
    client.handle_segment(at(300), &segment(1, 2, 1_000, Flags::ACK, 600));
    assert_eq!((client.received(), drain(&mut client, at(300)).len()), (1_000, 1));
    client.handle_segment(at(400), &segment(1_001, 2, 0, FIN, 600));
    assert_eq!((client.state(), client.peer_closed()), (State::TimeWait, true));
}

#[test]
fn after_the_peers_fin_we_may_still_send() {
    let mut client = established(config());
    client.handle_segment(at(200), &segment(1, 1, 0, FIN, 600));
    assert_eq!((client.state(), drain(&mut client, at(200)).len()), (State::CloseWait, 1));
    client.write(3_000);
    client.close();
    let sent = drain(&mut client, at(300));
    assert_eq!((sent.len(), client.state()), (3, State::LastAck));
    client.handle_segment(at(400), &segment(2, 3_002, 0, Flags::ACK, 600));
    assert_eq!((client.state(), client.statistics().failure), (State::Closed, None));
}

#[test]
fn a_fin_above_a_hole_waits() {
    let mut client = established(config());
    client.handle_segment(at(200), &segment(1_001, 1, 500, FIN, 600));
    assert_eq!((client.state(), client.peer_closed()), (State::Established, false));
    client.handle_segment(at(210), &segment(1, 1, 1_000, Flags::ACK, 600));
    assert_eq!((client.state(), client.received()), (State::CloseWait, 1_500));
}

#[test]
fn one_segment_may_end_both_directions() {
    // FIN-WAIT-1: the peer's FIN acknowledges ours.
    let mut client = established(config());
    client.close();
    drain(&mut client, at(100));
    client.handle_segment(at(200), &segment(1, 2, 0, FIN, 600));
    assert_eq!(client.state(), State::TimeWait);
}

#[test]
fn a_retransmitted_fin_restarts_time_wait() {
    // RFC 9293 §3.10.7.4, eighth.
    let mut client = fin_wait_2(config());
    client.handle_segment(at(400), &segment(1, 2, 0, FIN, 600));
    drain(&mut client, at(400));
    client.handle_segment(at(5_000), &segment(1, 2, 0, FIN, 600));
    assert_eq!(drain(&mut client, at(5_000)).len(), 1);
    let end = at(5_000) + client.config.time_wait;
    assert_eq!(client.poll_timeout(), Some(end));
    client.handle_timeout(end);
    assert_eq!((client.state(), client.statistics().failure), (State::Closed, None));
}

#[test]
fn a_reset_in_time_wait_is_not_a_failure() {
    let mut client = fin_wait_2(config());
    client.handle_segment(at(400), &segment(1, 2, 0, FIN, 600));
    drain(&mut client, at(400));
    client.handle_segment(at(500), &segment(2, 2, 0, Flags::RST, 600));
    assert_eq!((client.state(), client.statistics().failure), (State::Closed, None));
}

/// Returns a server in TIME-WAIT, because it closed first. The peer's next sequence number is 2.
fn waiting_server() -> Connection {
    let mut server = Connection::server(Arc::new(config()), LOCAL);
    server.handle_segment(at(0), &segment(0, 0, 0, Flags::SYN, 500));
    drain(&mut server, at(0));
    server.handle_segment(at(50), &segment(1, 1, 0, Flags::ACK, 550));
    server.close();
    drain(&mut server, at(50));
    server.handle_segment(at(100), &segment(1, 2, 0, FIN, 600));
    drain(&mut server, at(100));
    assert_eq!(server.state(), State::TimeWait);
    server
}

#[test]
fn a_new_syn_ends_time_wait() {
    // RFC 9293 §3.6.1 and RFC 6191 §2: a newer timestamp makes it new, whatever its number.
    let mut server = waiting_server();
    server.handle_segment(at(200), &segment(4_000_000_000, 0, 0, Flags::SYN, 601));
    assert_eq!(server.state(), State::SynReceived);
    let answer = drain(&mut server, at(200));
    assert_eq!(answer[0].flags, Flags::SYN.with(Flags::ACK));
    assert!(
        answer[0].seq.0.wrapping_sub(LOCAL.0 + 2) as i32 > 0,
        "beyond the sequence numbers of the previous connection"
    );
    server.handle_segment(at(250), &segment(4_000_000_001, 0, 0, Flags::ACK, 602));
    assert_eq!(server.state(), State::SynReceived, "an ACK of the old numbers opens nothing");
    // An old timestamp, or none with an old number, does not.
    let mut server = waiting_server();
    server.handle_segment(at(200), &segment(5_000, 0, 0, Flags::SYN, 599));
    assert_eq!(server.state(), State::TimeWait);
    let mut old = segment(1, 0, 0, Flags::SYN, 600);
    old.seq = REMOTE;
    server.handle_segment(at(200), &old);
    assert_eq!(server.state(), State::TimeWait);
    // As old as the last timestamp: the number decides.
    server.handle_segment(at(200), &segment(5_000, 0, 0, Flags::SYN, 600));
    assert_eq!(server.state(), State::SynReceived);
}

#[test]
fn an_orphan_does_not_wait_for_ever() {
    // Linux: 60 s. The RFC sets no limit.
    let fin_wait = Some(Duration::from_secs(60));
    let mut client = fin_wait_2(Config { fin_wait, ..config() });
    assert_eq!(client.poll_timeout(), None, "an application still reads");
    client.release(at(300));
    assert_eq!(client.poll_timeout(), Some(at(60_300)));
    client.handle_timeout(at(60_300));
    assert_eq!((client.state(), client.statistics().failure), (State::Closed, Some(Failure::FinWait)));
    let mut client = fin_wait_2(config());
    client.release(at(300));
    assert_eq!(client.poll_timeout(), None);
}

#[test]
fn data_for_an_orphan_is_reset() {
    // RFC 9293 §3.6.1: the reset shows that data was lost.
    let mut client = established(config());
    client.release(at(200));
    drain(&mut client, at(200));
    client.handle_segment(at(300), &segment(1, 2, 0, Flags::ACK, 600));
    assert_eq!(client.state(), State::FinWait2);
    client.handle_segment(at(300), &segment(1, 2, 1_000, Flags::ACK, 600));
    // At the number that the peer acknowledged (RFC 9293 §3.10.7.1), as Linux.
    let reset = drain(&mut client, at(300))[0];
    assert_eq!((reset.flags, reset.seq), (Flags::RST, LOCAL.plus(2)));
    assert_eq!(client.state(), State::Closed);
}

fn kept_alive() -> Connection {
    let timing = KeepAliveConfig { idle: Duration::from_secs(10), interval: Duration::from_secs(2), probes: 3 };
    established(Config { keep_alive: Some(timing), ..config() })
}

#[test]
fn an_idle_peer_is_probed() {
    // RFC 9293 §3.8.4: an old number without data.
    let mut client = kept_alive();
    client.handle_segment(at(5_000), &segment(1, 1, 500, Flags::ACK, 600));
    drain(&mut client, at(5_000));
    client.handle_timeout(at(10_100));
    assert_eq!((drain(&mut client, at(10_100)), client.poll_timeout()), (vec![], Some(at(15_000))));
    client.handle_timeout(at(15_000));
    let probe = drain(&mut client, at(15_000));
    assert_eq!((probe.len(), probe[0].seq, probe[0].len), (1, LOCAL, 0));
    // The reply postpones the next probe.
    client.handle_segment(at(15_100), &segment(501, 1, 0, Flags::ACK, 700));
    client.handle_timeout(at(17_000));
    assert_eq!(client.poll_timeout(), Some(at(25_100)));
}

#[test]
fn a_connection_to_a_dead_peer_is_aborted_after_the_last_probe() {
    let mut client = kept_alive();
    let mut probes = Vec::new();
    while client.state() == State::Established {
        let now = client.poll_timeout().unwrap();
        client.handle_timeout(now);
        probes.extend(drain(&mut client, now).iter().map(|segment| (now.as_nanos() / 1_000_000, segment.flags)));
    }
    let reset = Flags::RST.with(Flags::ACK);
    assert_eq!(probes, [(10_100, Flags::ACK), (12_100, Flags::ACK), (14_100, Flags::ACK), (16_100, reset)]);
    assert_eq!(client.statistics().failure, Some(Failure::KeepAlive));
}
