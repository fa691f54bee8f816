use super::*;
use crate::Profile;
use crate::config::{Config, Scps};
use crate::connection::reset_for;
use crate::segment::{SeqNumber, SynOptions};
use lightlag_control::congestion::Choice;
use lightlag_transport::Failure;
use std::sync::Arc;

const LOCAL: SeqNumber = SeqNumber(1_000);
const REMOTE: SeqNumber = SeqNumber(9_000);
const COMPRESSION: u8 = Capabilities::COMPRESSION;
/// IDs of our end and of the peer.
const OURS: u8 = 7;
const THEIRS: u8 = 9;

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn config(compression: bool) -> Config {
    let scps = Some(Scps { compression, ..Scps::default() });
    Config { scps, mss: 1_000, congestion: Choice::named("none"), ..Profile::Scps.config() }
}

fn drain(connection: &mut Connection, now: Instant) -> Vec<Segment> {
    std::iter::from_fn(|| connection.poll_segment(now)).collect()
}

fn syn(flags: Flags, offer: Option<(u8, u8)>) -> Segment {
    let options = SynOptions { mss: Some(1_000), window_scale: None, sack_permitted: false };
    let segment = Segment::new(REMOTE, LOCAL.plus(1), 60_000, flags).with_syn_options(options);
    match offer {
        Some((bitmap, connection_id)) => segment.with_capabilities(Capabilities { bitmap, connection_id }),
        None => segment,
    }
}

const AGREED: Option<(u8, u8)> = Some((COMPRESSION | Capabilities::SNACK_SHORT, THEIRS));

/// Returns a client after its handshake, and the ACK that ended the handshake.
fn client(config: Config, id: u8, offer: Option<(u8, u8)>) -> (Connection, Segment) {
    let mut client = Connection::client(Arc::new(config), LOCAL);
    client.set_connection_id(id);
    client.open(at(0));
    let [first] = drain(&mut client, at(0))[..] else { panic!("one SYN") };
    assert!(!first.is_compressed());
    client.handle_segment(at(100), &syn(Flags::SYN.with(Flags::ACK), offer));
    let [ack] = drain(&mut client, at(100))[..] else { panic!("one ACK") };
    (client, ack)
}

/// Returns a server that received a SYN, and its SYN-ACK.
fn server(config: Config, id: u8, offer: Option<(u8, u8)>) -> (Connection, Segment) {
    let mut server = Connection::server(Arc::new(config), LOCAL);
    server.set_connection_id(id);
    server.handle_segment(at(0), &syn(Flags::SYN, offer));
    let [answer] = drain(&mut server, at(0))[..] else { panic!("one answer") };
    assert!(!answer.is_compressed());
    (server, answer)
}

/// Returns an ACK of the peer for `acked` bytes.
fn ack(acked: u32) -> Segment {
    Segment::new(REMOTE.plus(1), LOCAL.plus(1 + acked), 50_000, Flags::ACK)
}

/// Returns the segment with its flags replaced.
fn flagged(mut segment: Segment, flags: Flags) -> Segment {
    segment.flags = flags;
    segment
}

/// Returns data of the peer.
fn data(start: u32, len: u16) -> Segment {
    let mut segment = Segment::new(REMOTE.plus(1 + start), LOCAL.plus(1), 50_000, Flags::ACK);
    segment.len = len;
    segment
}

#[test]
fn both_bits_and_both_ids_make_an_agreement() {
    for (ours, own_id, bits, peer_id) in [
        (true, OURS, COMPRESSION, THEIRS),
        (true, OURS, COMPRESSION | 0x0f, OURS),
        (false, OURS, COMPRESSION, THEIRS),
        (true, 0, COMPRESSION, THEIRS),
        (true, OURS, 0, THEIRS),
        (true, OURS, COMPRESSION, 0),
        (true, OURS, 0xe8, 255),
    ] {
        let case = format!("{ours} {own_id}, {bits:02x} {peer_id}");
        let agreed = ours && own_id != 0 && bits & COMPRESSION != 0 && peer_id != 0;
        let offers = if ours && own_id != 0 { (COMPRESSION, own_id) } else { (0, 0) };
        let common = if agreed { COMPRESSION } else { 0 };
        let (client, first) = client(config(ours), own_id, Some((bits, peer_id)));
        assert_eq!((client.compresses(), first.is_compressed()), (agreed, agreed), "{case}");
        assert_eq!(client.common_capabilities().unwrap() & COMPRESSION, common, "{case}");
        let (mut server, answer) = server(config(ours), own_id, Some((bits, peer_id)));
        let told = answer.capabilities().unwrap();
        assert_eq!((told.bitmap & COMPRESSION, told.connection_id), offers, "{case}");
        assert!(!server.compresses(), "its own id is not confirmed");
        server.handle_segment(at(100), &ack(0));
        assert_eq!((server.compresses(), server.common_capabilities().unwrap() & COMPRESSION), (agreed, common));
    }
}

#[test]
fn a_peer_without_the_option_gets_plain_headers() {
    let (mut client, first) = client(config(true), OURS, None);
    assert!(!first.is_compressed() && client.extras.gate().is_none());
    client.write(1_000);
    assert_eq!(drain(&mut client, at(100))[0].header_len(), 20);
    // A segment with a compressed header belongs to another connection.
    client.handle_segment(at(200), &data(0, 100).compressed(THEIRS, true));
    assert_eq!((client.received(), drain(&mut client, at(400)).len()), (0, 0));
}

#[test]
fn full_packets_keep_their_size_and_carry_what_headers_save() {
    for (timestamps, is_payload, len) in
        [(false, false, 1_012), (true, false, 1_004), (false, true, 1_000), (true, true, 1_000)]
    {
        let config = Config { timestamps, mss_is_payload: is_payload, ..config(true) };
        let mut client = Connection::client(Arc::new(config), LOCAL);
        client.set_connection_id(OURS);
        client.open(at(0));
        drain(&mut client, at(0));
        let mut answer = syn(Flags::SYN.with(Flags::ACK), AGREED);
        if timestamps {
            answer = answer.with_timestamps(Timestamps::default());
        }
        client.handle_segment(at(100), &answer);
        client.write(10_000);
        let sent = drain(&mut client, at(100));
        let header = if timestamps { 16 } else { 8 };
        assert_eq!((sent[1].len, sent[1].header_len()), (len, header), "{timestamps} {is_payload}");
    }
}

#[test]
fn the_ack_of_the_handshake_may_be_lost() {
    let (mut server, _) = server(config(true), OURS, AGREED);
    server.handle_segment(at(100), &data(0, 500).compressed(THEIRS, true));
    assert_eq!((server.state(), server.received()), (State::Established, 500));
    // The last known window is in the SYN.
    server.write(100_000);
    let left: u32 = drain(&mut server, at(100)).iter().map(|segment| u32::from(segment.len)).sum();
    assert!((59_000..=60_000).contains(&left), "{left}");
}

#[test]
fn data_acknowledges_nothing_and_an_ack_leaves_by_itself() {
    let (mut client, _) = client(Config { ack_interval: None, delayed_ack: None, ..config(true) }, OURS, AGREED);
    client.handle_segment(at(200), &data(0, 500).compressed(THEIRS, true));
    client.write(3_000);
    let sent = drain(&mut client, at(200));
    assert_eq!(sent.iter().map(Segment::header_len).collect::<Vec<_>>(), [10, 8, 8, 8]);
    assert_eq!((sent[0].ack, sent[0].connection_id()), (REMOTE.plus(501), OURS));
    assert!(sent[1..].iter().all(|data| !data.flags.has(Flags::ACK) && data.window == 0));
}

#[test]
fn a_waiting_ack_continues_to_wait_while_data_is_sent() {
    let (mut client, _) = client(config(true), OURS, AGREED);
    client.handle_segment(at(200), &data(0, 500).compressed(THEIRS, true));
    let due = client.receiver.deadline();
    client.write(3_000);
    let sent = drain(&mut client, at(200));
    assert!(sent.len() == 3 && sent.iter().all(|segment| segment.header_len() == 8), "{sent:?}");
    assert_eq!((client.receiver.deadline(), due), (at(300), at(300)));
    client.handle_timeout(at(300));
    let [ack] = drain(&mut client, at(300))[..] else { panic!("one ACK") };
    assert_eq!((ack.ack, ack.header_len()), (REMOTE.plus(501), 10));
}

#[test]
fn an_unknown_id_is_dropped_in_silence() {
    let (mut client, _) = client(config(true), OURS, AGREED);
    client.write(500);
    drain(&mut client, at(100));
    for wrong in [OURS, THEIRS + 1] {
        client.handle_segment(at(200), &data(0, 500).compressed(wrong, true));
        client.handle_segment(at(200), &ack(500).compressed(wrong, false));
    }
    assert_eq!((client.received(), client.acknowledged(), drain(&mut client, at(250)).len()), (0, 0, 0));
    // An end without a connection sends no reply either.
    client.crash();
    client.handle_segment(at(300), &data(0, 500).compressed(THEIRS, true));
    assert_eq!(drain(&mut client, at(300)), []);
    let mut listener = Connection::server(Arc::new(config(true)), LOCAL);
    listener.handle_segment(at(300), &ack(0).compressed(THEIRS, false));
    assert_eq!(drain(&mut listener, at(300)), []);
    assert_eq!(reset_for(&ack(0).compressed(THEIRS, false)), None);
}

#[test]
fn a_plain_header_without_ack_is_dropped_as_ever() {
    let (mut client, _) = client(config(true), OURS, AGREED);
    client.handle_segment(at(200), &data(0, 500).compressed(THEIRS, true).restored());
    assert_eq!(client.received(), 0);
    client.handle_segment(at(200), &data(0, 500));
    assert_eq!(client.received(), 500, "plain headers stay valid");
}

#[test]
fn an_ack_without_number_moves_the_window_after_a_hole() {
    let (mut client, _) = client(config(true), OURS, AGREED);
    client.write(200_000);
    drain(&mut client, at(100));
    // The peer's FIN arrives before its data, with a late number.
    let mut fin = flagged(ack(0), Flags::FIN.with(Flags::ACK));
    fin.seq = REMOTE.plus(3_001);
    client.handle_segment(at(200), &fin.compressed(THEIRS, true));
    client.handle_segment(at(210), &ack(10_000).compressed(THEIRS, false));
    assert_eq!(client.snapshot().peer_window, 50_000);
    assert_eq!(client.acknowledged(), 10_000);
}

#[test]
fn a_reset_of_an_agreed_connection_is_compressed() {
    let (mut one, _) = client(config(true), OURS, AGREED);
    one.abort();
    let [reset] = drain(&mut one, at(200))[..] else { panic!("one reset") };
    assert_eq!((reset.header_len(), reset.is_numbered(), reset.connection_id()), (16, true, OURS));
    let (mut other, _) = client(config(true), OURS, AGREED);
    let reset = flagged(ack(0), Flags::RST.with(Flags::ACK));
    other.handle_segment(at(200), &reset.compressed(THEIRS, true));
    assert_eq!((other.state(), other.statistics().failure), (State::Closed, Some(Failure::Reset)));
}

#[test]
fn probes_carry_their_number() {
    let (mut client, _) = client(Config { probe: crate::config::Probe::Empty, ..config(true) }, OURS, AGREED);
    let mut closed = ack(0);
    closed.window = 0;
    client.handle_segment(at(150), &closed.compressed(THEIRS, false));
    client.write(5_000);
    assert_eq!(drain(&mut client, at(150)), []);
    let due = client.poll_timeout().unwrap();
    client.handle_timeout(due);
    let [probe] = drain(&mut client, due)[..] else { panic!("one probe") };
    assert_eq!((probe.header_len(), probe.seq, probe.len), (14, LOCAL, 0));
}

#[test]
fn a_new_connection_in_time_wait_offers_the_id_again() {
    let (mut server, _) =
        server(Config { time_wait: lightlag_core::Duration::from_secs(60), ..config(true) }, OURS, AGREED);
    server.handle_segment(at(100), &ack(0).compressed(THEIRS, false));
    server.close();
    drain(&mut server, at(100));
    server.handle_segment(at(200), &ack(1).compressed(THEIRS, false));
    let fin = flagged(ack(1), Flags::FIN.with(Flags::ACK));
    server.handle_segment(at(200), &fin.compressed(THEIRS, true));
    assert_eq!(server.state(), State::TimeWait);
    drain(&mut server, at(200));
    let mut again = syn(Flags::SYN, AGREED);
    again.seq = REMOTE.plus(70_000);
    server.handle_segment(at(300), &again);
    let [answer] = drain(&mut server, at(300))[..] else { panic!("one answer") };
    assert_eq!(answer.capabilities().unwrap().connection_id, OURS);
    assert!(!answer.is_compressed());
}
