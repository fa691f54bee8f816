//! Compares what is inferred with the log of a bridge that handled the packets of a real kernel: see
//! `tests/data/captures/README.md`.

use super::*;
use crate::analysis::{Analysis, Limits, trace::Trace};
use crate::capture::Reader;
use crate::{Addresses, IpFields, encode};
use lightlag_core::Duration;
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber, SynOptions};

fn real(name: &str) -> Sending {
    let file = format!("{}/../../tests/data/captures/{name}.pcap", env!("CARGO_MANIFEST_DIR"));
    let mut reader = Reader::open(std::fs::File::open(file).unwrap()).unwrap();
    let (mut analysis, mut trace) = (Analysis::new(Limits::default()), Trace::new(0, usize::MAX));
    while let Some(packet) = reader.next_packet().unwrap() {
        if let Some(observation) = analysis.packet(packet.at, packet.ip) {
            trace.observe(&observation);
        }
    }
    Sending::infer(trace.rows(), &analysis.finish().connections[0]).unwrap()
}

/// Returns true if `actual` differs from `right` by less than the fraction `share`.
fn about(actual: f64, right: f64, share: f64) -> bool {
    (actual / right - 1.0).abs() < share
}

#[test]
fn a_capture_at_the_sender_gives_the_losses_that_a_bridge_had_made() {
    let sending = real("linux-cubic-sender");
    assert_eq!((sending.sender, sending.vantage), (Side::Client, Vantage::Sender));
    assert_eq!(sending.transmissions.len(), 419);
    assert_eq!(sending.lost, [100, 101, 250, 300]);
    assert_eq!((sending.transfer_bytes, sending.complete), (600_000, true));
    assert_eq!((sending.full_segment, sending.initial_window), (1448, Some(10)));
    let path = sending.path;
    assert!(about(path.rate_bps.unwrap(), 20e6, 0.03), "{path:?}");
    // 20 ms each way, plus the bridge's own delay.
    assert!(about(path.base_rtt_s, 0.0407, 0.05), "{path:?}");
    assert!(about(path.propagation_s, 0.04, 0.05), "{path:?}");
    assert!(sending.episodes.iter().all(|episode| episode.cause == Cause::Fast), "{:?}", sending.episodes);
}

#[test]
fn a_capture_at_the_receiver_gives_the_same_losses_from_its_holes() {
    let sending = real("linux-cubic-receiver");
    assert_eq!((sending.sender, sending.vantage), (Side::Client, Vantage::Receiver));
    assert_eq!(sending.lost, [100, 101, 250, 300]);
    assert_eq!(sending.transmissions.len(), 419);
    assert_eq!(sending.initial_window, Some(10));
    assert!(about(sending.path.rate_bps.unwrap(), 20e6, 0.03), "{:?}", sending.path);
    assert!(about(sending.path.base_rtt_s, 0.0407, 0.05), "{:?}", sending.path);
}

#[test]
fn lost_retransmissions_are_found_and_spurious_ones_are_not() {
    let sending = real("linux-timeout-sender");
    let lost: Vec<u64> = (150..=200).chain([270]).collect();
    assert_eq!(sending.transmissions.len(), 329);
    assert_eq!(sending.lost, lost);
}

/// Infers the behaviour of the sender from packets given as time in milliseconds, whether the client sends, and
/// segment.
fn infer(packets: &[(u64, bool, Segment)]) -> Result<Sending, ReplayError> {
    let there = Addresses { source: "10.0.0.1:1000".parse().unwrap(), destination: "10.0.0.2:9".parse().unwrap() };
    let (mut analysis, mut trace) = (Analysis::new(Limits::default()), Trace::new(0, usize::MAX));
    for (ms, from_client, segment) in packets {
        let mut bytes = Vec::new();
        let addresses = if *from_client { there } else { there.reversed() };
        encode(&mut bytes, &addresses, &IpFields::default(), segment, &vec![0; usize::from(segment.len)]);
        let at = Instant::ZERO + Duration::from_millis(*ms);
        trace.observe(&analysis.packet(at, Some(&bytes)).unwrap());
    }
    Sending::infer(trace.rows(), &analysis.finish().connections[0])
}

fn segment(seq: u32, ack: u32, flags: Flags, len: u16) -> Segment {
    let mut segment = Segment::new(SeqNumber(seq), SeqNumber(ack), 60_000, flags);
    segment.len = len;
    segment
}

fn handshake() -> Vec<(u64, bool, Segment)> {
    let options = SynOptions { mss: Some(1000), window_scale: Some(0), sack_permitted: true };
    vec![
        (0, true, segment(100, 0, Flags::SYN, 0).with_syn_options(options)),
        (100, false, segment(500, 101, Flags(Flags::SYN.0 | Flags::ACK.0), 0).with_syn_options(options)),
        (100, true, segment(101, 501, Flags::ACK, 0)),
    ]
}

#[test]
fn a_packet_longer_than_a_segment_counts_as_its_segments() {
    let mut packets = handshake();
    packets.push((100, true, segment(101, 501, Flags::ACK, 2500)));
    packets.push((200, false, segment(501, 2601, Flags::ACK, 0)));
    let sending = infer(&packets).unwrap();
    let lengths: Vec<u32> = sending.transmissions.iter().map(|sent| sent.len).collect();
    assert_eq!(lengths, [1000, 1000, 500]);
    assert!(sending.lost.is_empty());
}

#[test]
fn an_early_ack_takes_a_loss_back() {
    let ack = |ms| (ms, false, segment(501, 1101, Flags::ACK, 0));
    let again = (500, true, segment(101, 501, Flags::ACK, 1000));
    let mut packets = handshake();
    packets.push((100, true, segment(101, 501, Flags::ACK, 1000)));
    packets.push(again);
    // The round trip is 100 ms: an ACK 20 ms after the second copy answers the first.
    packets.push(ack(520));
    assert_eq!(infer(&packets).unwrap().lost, Vec::<u64>::new());
    packets.pop();
    packets.push(ack(600));
    assert_eq!(infer(&packets).unwrap().lost, [1]);
}

/// Returns the packets of a connection with a 37-byte cookie and its ACK, followed by rounds of ten segments.
fn after_a_cookie() -> Vec<(u64, bool, Segment)> {
    let mut packets = handshake();
    packets.push((100, true, segment(101, 501, Flags::ACK.with(Flags::PSH), 37)));
    packets.push((200, false, segment(501, 138, Flags::ACK, 0)));
    for round in 0..3 {
        for n in 0..10 {
            let seq = 138 + 1000 * (10 * round + n);
            let time_ms = 400 + 100 * u64::from(round);
            packets.push((time_ms, true, segment(seq, 501, Flags::ACK, 1000)));
            packets.push((time_ms + 100, false, segment(501, seq + 1000, Flags::ACK, 0)));
        }
    }
    packets.sort_by_key(|(at, from_client, _)| (*at, *from_client));
    packets
}

#[test]
fn data_sent_before_the_transfer_is_left_out() {
    let sending = infer(&after_a_cookie()).unwrap();
    assert_eq!((sending.opening_bytes, sending.transfer_bytes, sending.initial_window), (37, 30_000, Some(10)));
    assert_eq!(sending.transmissions[0].start, 1);
    assert_eq!(sending.acks.first().map(|(_, ack)| *ack), Some(1001));
    assert!((sending.duration_s - 0.3).abs() < 1e-9, "{}", sending.duration_s);
}

#[test]
fn messages_do_not_open_a_connection() {
    let mut packets = handshake();
    for n in 0..5_u32 {
        let time_ms = 100 + 200 * u64::from(n);
        packets.push((time_ms, true, segment(101 + 37 * n, 501, Flags::ACK.with(Flags::PSH), 37)));
        packets.push((time_ms + 100, false, segment(501, 138 + 37 * n, Flags::ACK, 0)));
    }
    let sending = infer(&packets).unwrap();
    assert_eq!((sending.opening_bytes, sending.transfer_bytes), (0, 185));
}

#[test]
fn a_capture_that_cannot_be_replayed_gives_a_reason() {
    let whole = handshake();
    assert_eq!(infer(&whole).unwrap_err(), ReplayError::NoData);
    let data = (100, true, segment(101, 501, Flags::ACK, 1000));
    assert_eq!(infer(&[whole[0], data]).unwrap_err(), ReplayError::OneDirection);
    let ack = (200, false, segment(501, 1101, Flags::ACK, 0));
    assert_eq!(infer(&[data, ack]).unwrap_err(), ReplayError::NoHandshake("SYN"));
    assert_eq!(infer(&[whole[0], data, ack]).unwrap_err(), ReplayError::NoHandshake("SYN-ACK"));
}

#[test]
fn a_gap_in_the_capture_is_reported_instead_of_filled() {
    let data = |seq| (100, true, segment(seq, 501, Flags::ACK, 1000));
    let mut packets = handshake();
    packets.extend([data(101), data(101 + 1000 + 65_536_000)]);
    assert_eq!(infer(&packets).unwrap().lost.len(), 65_536);
    packets.pop();
    packets.push(data(101 + 1000 + 65_536_001));
    let error = infer(&packets).unwrap_err();
    assert_eq!(error, ReplayError::Gap { bytes: 65_536_001 });
    assert!(error.to_string().starts_with("65536001 bytes in a row are missing"), "{error}");
}

#[test]
fn a_small_file_cannot_fill_the_memory() {
    // Segments of one byte, packets of 60,000 bytes.
    let options = SynOptions { mss: Some(1), window_scale: Some(14), sack_permitted: true };
    let mut packets = handshake();
    packets[0].2 = packets[0].2.with_syn_options(options);
    let data = |number: u32| (200, true, segment(101 + 60_000 * number, 501, Flags::ACK, 60_000));
    packets.extend((0..3).map(data));
    assert_eq!(infer(&packets).unwrap_err(), ReplayError::TooLong);
}

#[test]
fn data_that_its_fin_overtook_was_sent() {
    let mut packets = handshake();
    packets.push((100, true, segment(1101, 501, Flags(Flags::FIN.0 | Flags::ACK.0), 0)));
    packets.push((101, true, segment(101, 501, Flags::ACK, 1000)));
    packets.push((200, false, segment(501, 1102, Flags::ACK, 0)));
    let sending = infer(&packets).unwrap();
    assert_eq!((sending.transmissions.len(), sending.transfer_bytes), (1, 1000));
    assert!(sending.lost.is_empty() && sending.complete);
}

#[test]
fn data_from_before_the_connection_is_none_of_its_own() {
    let mut packets = handshake();
    let answer = packets.remove(1);
    // The client acknowledges data that the server never sent, and the server sends data that the client had
    // acknowledged.
    packets[1].2.ack = SeqNumber(40_000);
    packets.push((110, false, segment(1000, 101, Flags::ACK, 2000)));
    packets.push((120, false, answer.2));
    assert_eq!(infer(&packets).unwrap_err(), ReplayError::NoData);
}
