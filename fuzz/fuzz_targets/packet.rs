//! Any bytes are a packet or an error, never a panic; and what was read survives being written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_wire::{Checksum, TcpPacket, decode, decode_captured, encode, icmp};

fuzz_target!(|bytes: &[u8]| {
    let captured = decode_captured(bytes);
    if let Ok(tcp) = captured {
        assert!(tcp.wire_len >= 40 + u32::from(tcp.segment.len), "{tcp:?}");
        assert!(tcp.payload.len() <= usize::from(tcp.segment.len), "{tcp:?}");
        if tcp.payload.len() == usize::from(tcp.segment.len) && tcp.payload.len() < 60_000 {
            survives(&tcp);
        }
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

/// Addresses, fields and segment, as far as options fit that were written without padding.
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
