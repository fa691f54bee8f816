//! Any bytes are an 802.11 frame, a radiotap header, an ARP packet or an error, never a panic; and what was read
//! survives being written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_wire::arp::Arp;
use lightlag_wire::dot11::{self, Duplicates, Msdu, fcs, radiotap};

fuzz_target!(|bytes: &[u8]| {
    let mut duplicates = Duplicates::default();
    for is_padded in [false, true] {
        if let Ok(msdu) = Msdu::find(bytes, is_padded) {
            assert!(msdu.payload.len() + 32 <= bytes.len());
            assert!(!duplicates.is_copy(0, &msdu) || msdu.is_retry, "{msdu:?}");
            assert_eq!(duplicates.is_copy(0, &msdu), msdu.is_retry, "{msdu:?}");
        }
    }
    let mut sealed = bytes.to_vec();
    sealed.extend(fcs(bytes).to_le_bytes());
    let mut out = Vec::new();
    match dot11::decode(&sealed) {
        Ok(frame) => {
            dot11::encode(&mut out, &frame);
            assert_eq!(out, sealed, "{frame:?}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Ok((header, frame)) = radiotap::decode(bytes) {
        assert!(frame.len() + 8 <= bytes.len());
        out.clear();
        radiotap::encode(&mut out, &header);
        assert_eq!(radiotap::decode(&out), Ok((header, &[][..])));
    }
    if let Ok(arp) = Arp::decode(bytes) {
        assert_eq!(arp.encode(), bytes[..28]);
    }
});
