//! Any bytes are a packet or an error, never a panic; and parsed packets survive being written. The same holds for
//! compressed headers with a known id.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Capabilities, Flags, SeqNumber};
use lightlag_wire::compressed::{Decoder, PROTOCOL};
use lightlag_wire::{Addresses, Checksum, IpFields, PacketError, TcpPacket, decode, decode_captured, encode, icmp};
use std::net::SocketAddr;

fuzz_target!(|bytes: &[u8]| {
    let captured = decode_captured(bytes);
    if let Ok(tcp) = captured {
        assert!(tcp.wire_len >= 40 + u32::from(tcp.segment.len), "{tcp:?}");
        assert!(tcp.payload.len() <= usize::from(tcp.segment.len), "{tcp:?}");
        if tcp.payload.len() == usize::from(tcp.segment.len) && tcp.payload.len() < 60_000 {
            survives(&tcp);
        }
    }
    if captured == Err(PacketError::NotTcp(PROTOCOL)) {
        compressed(bytes);
    }
    match decode(bytes) {
        Ok(tcp) => assert_eq!((Ok(tcp), tcp.checksum), (captured, Checksum::Valid)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let router = match bytes.first().map(|byte| byte >> 4) {
        Some(6) => "fd00::1",
        _ => "10.0.0.1",
    };
    let mut out = Vec::new();
    if let Ok(Some(message)) = icmp::decode(bytes) {
        assert_ne!(message.source.is_ipv4(), message.source.is_ipv6());
    }
    if icmp::encode(&mut out, router.parse().unwrap(), icmp::Error::TimeExceeded, bytes).is_ok() {
        icmp::decode(&out).expect("what is written can be read");
    }
});

/// A packet with a compressed header belongs to a connection or is an error, and survives being written.
fn compressed(bytes: &[u8]) {
    let end = |address: Option<&[u8]>, port: u16| match address {
        Some(v4) if v4.len() == 4 => <[u8; 4]>::try_from(v4).ok().map(|v4| SocketAddr::from((v4, port))),
        Some(v6) => <[u8; 16]>::try_from(v6).ok().map(|v6| SocketAddr::from((v6, port))),
        None => None,
    };
    let (size, at, header) = if bytes[0] >> 4 == 4 { (4, 12, 4 * usize::from(bytes[0] & 15)) } else { (16, 8, 40) };
    let source = end(bytes.get(at..at + size), 1000);
    let destination = end(bytes.get(at + size..at + 2 * size), 9);
    let (Some(source), Some(destination), Some(id)) = (source, destination, bytes.get(header)) else { return };
    let mut decoder = Decoder::new(1);
    assert!(decoder.captured(bytes).is_err(), "no SYN offered its id");
    let mut out = Vec::new();
    let offer = Capabilities { bitmap: Capabilities::COMPRESSION, connection_id: *id };
    let syn = Segment::new(SeqNumber(1), SeqNumber(0), 1, Flags::SYN).with_capabilities(offer);
    encode(&mut out, &Addresses { source, destination }, &IpFields::default(), &syn, &[]);
    decoder.captured(&out).expect("a right SYN");
    let Ok(read) = decoder.captured(bytes) else { return };
    assert!(read.wire_len >= 24 + u32::from(read.segment.len), "{read:?}");
    assert!(read.segment.is_compressed() && read.payload.len() <= usize::from(read.segment.len), "{read:?}");
    if read.payload.len() < usize::from(read.segment.len) || read.payload.len() > 60_000 {
        return;
    }
    encode(&mut out, &read.addresses, &read.ip, &read.segment, read.payload);
    let again = decoder.captured(&out).expect("what is written can be read");
    assert_eq!((again.addresses, again.ip, again.payload), (read.addresses, read.ip, read.payload));
    assert_eq!((again.unknown_options, again.malformed_options, again.checksum), (0, 0, Checksum::Valid));
    assert_eq!(again.segment, read.segment);
}

/// Checks that addresses, fields and segment survive being written; the segment only if its options, which are written
/// without the original padding, fit.
fn survives(tcp: &TcpPacket) {
    let mut out = Vec::new();
    encode(&mut out, &tcp.addresses, &tcp.ip, &tcp.segment, tcp.payload);
    let again = decode(&out).expect("what is written can be read");
    assert_eq!((again.addresses, again.ip, again.payload), (tcp.addresses, tcp.ip, tcp.payload));
    assert_eq!((again.unknown_options, again.malformed_options), (0, 0));
    if tcp.segment.options_len() <= 40 {
        assert_eq!(again.segment, tcp.segment);
    }
}
