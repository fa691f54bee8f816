use super::*;
use crate::Profile;
use crate::connection::State;
use crate::ecn::Ect;
use crate::segment::SeqNumber;
use std::sync::Arc;

fn at(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn config(mode: EcnMode) -> Config {
    Config { mss: 1_000, mss_is_payload: true, delayed_ack: None, ecn: mode, ..Profile::Rfc.config() }
}

/// Returns two ends with these configurations, connected at 100 ms.
fn pair(client: Config, server: Config) -> [Connection; 2] {
    let mut ends = [
        Connection::client(Arc::new(client), SeqNumber(1_000)),
        Connection::server(Arc::new(server), SeqNumber(9_000)),
    ];
    ends[0].open(at(0));
    for (now, from) in [(0, 0), (50, 1), (100, 0)] {
        let segment = ends[from].poll_segment(at(now)).unwrap();
        assert_eq!(ends[from].codepoint(), Codepoint::NotEct, "nothing of the handshake can be marked");
        ends[1 - from].handle_packet(at(now + 50), &segment, Codepoint::NotEct);
    }
    assert!(ends.iter().all(|end| end.state() == State::Established));
    ends
}

fn drain(end: &mut Connection, now: Instant) -> Vec<(Segment, Codepoint)> {
    std::iter::from_fn(|| end.poll_segment(now).map(|segment| (segment, end.codepoint()))).collect()
}

#[test]
fn new_data_can_be_marked_and_nothing_else() {
    let [mut client, mut server] = pair(config(EcnMode::Classic), config(EcnMode::Classic));
    client.write(4_000);
    let sent = drain(&mut client, at(200));
    assert!(sent.len() == 4 && sent.iter().all(|(_, codepoint)| *codepoint == Codepoint::Ect0));
    // All but the first arrive: ACKs are sent without ECT, and so is the repaired segment.
    for (segment, codepoint) in &sent[1..] {
        server.handle_packet(at(250), segment, *codepoint);
        for (ack, codepoint) in drain(&mut server, at(250)) {
            assert_eq!(codepoint, Codepoint::NotEct);
            client.handle_packet(at(300), &ack, codepoint);
        }
    }
    let again = drain(&mut client, at(300));
    assert_eq!((again.len(), again[0].0.seq, again[0].1), (1, sent[0].0.seq, Codepoint::NotEct));
}

#[test]
fn the_scenario_chooses_the_codepoint() {
    let [mut client, _] = pair(Config { ect: Ect::Ect1, ..config(EcnMode::Accecn) }, config(EcnMode::Accecn));
    client.write(1_000);
    assert_eq!(drain(&mut client, at(200))[0].1, Codepoint::Ect1);
}

#[test]
fn without_agreement_nothing_can_be_marked() {
    let [mut client, mut server] = pair(config(EcnMode::Accecn), config(EcnMode::Off));
    client.write(1_000);
    let (segment, codepoint) = drain(&mut client, at(200))[0];
    assert_eq!((codepoint, segment.flags), (Codepoint::NotEct, Flags::ACK));
    server.handle_packet(at(250), &segment, Codepoint::Ce);
    assert_eq!(drain(&mut server, at(250))[0].0.flags, Flags::ACK);
}

#[test]
fn a_mark_is_echoed_and_cwr_ends_it() {
    let [mut client, mut server] = pair(config(EcnMode::Classic), config(EcnMode::Classic));
    client.write(2_000);
    let sent = drain(&mut client, at(200));
    server.handle_packet(at(250), &sent[0].0, Codepoint::Ce);
    server.handle_packet(at(250), &sent[1].0, Codepoint::Ect0);
    let acks = drain(&mut server, at(250));
    assert!(acks.iter().all(|(ack, _)| ack.flags == Flags::ACK.with(Flags::ECE)));
    for (ack, codepoint) in acks {
        client.handle_packet(at(300), &ack, codepoint);
    }
    client.write(2_000);
    let sent = drain(&mut client, at(300));
    let flags: Vec<Flags> = sent.iter().map(|(segment, _)| segment.flags).collect();
    assert_eq!(flags, [Flags::ACK.with(Flags::CWR), Flags::ACK]);
    server.handle_packet(at(350), &sent[0].0, Codepoint::Ect0);
    assert_eq!(drain(&mut server, at(350))[0].0.flags, Flags::ACK);
}

#[test]
fn a_change_of_marks_is_reported_before_the_next_segment_is_acknowledged() {
    // RFC 8257 §3.2 with delayed ACKs: 1 unmarked, 2 and 3 marked.
    let delayed = || Config { delayed_ack: Profile::Rfc.config().delayed_ack, ..config(EcnMode::Classic) };
    let [mut client, mut server] = pair(delayed(), delayed());
    for end in [&mut client, &mut server] {
        let mut exact = Ecn::new(EcnMode::Classic, Ect::Ect0, true);
        exact.take_syn(Flags::SYN.with(Flags::ECE).with(Flags::CWR));
        end.extras.put_ecn(Some(Box::new(exact)));
    }
    client.write(3_000);
    let sent = drain(&mut client, at(200));
    server.handle_packet(at(250), &sent[0].0, Codepoint::Ect0);
    assert_eq!(drain(&mut server, at(250)).len(), 0, "delayed");
    server.handle_packet(at(251), &sent[1].0, Codepoint::Ce);
    let acks = drain(&mut server, at(251));
    let told: Vec<(u32, bool)> = acks.iter().map(|(ack, _)| (ack.ack.0, ack.flags.has(Flags::ECE))).collect();
    assert_eq!(told, [(2_001, false), (3_001, true)]);
    // The right edge is the same in both.
    let edges: Vec<u32> = acks
        .iter()
        .map(|(ack, _)| ack.ack.0 + (u32::from(ack.window) << server.receiver.scale().unwrap_or(0)))
        .collect();
    assert!(edges[0] <= edges[1], "{edges:?}");
}

#[test]
fn the_counter_of_accecn_survives_the_handshake() {
    let [mut client, mut server] = pair(config(EcnMode::Accecn), config(EcnMode::Accecn));
    client.write(3_000);
    let sent = drain(&mut client, at(200));
    for ((segment, _), codepoint) in sent.iter().zip([Codepoint::Ce, Codepoint::Ect0, Codepoint::Ce]) {
        server.handle_packet(at(250), segment, codepoint);
    }
    let acks = drain(&mut server, at(250));
    assert_eq!(acks.last().unwrap().0.flags.ace(), 7, "5 and two marks");
}
