//! Any bytes from a device are a packet or a fault, never a panic; marking changes only the mark.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_core::Codepoint;
use lightlag_live::packet::{Envelope, envelope, mark};

fuzz_target!(|bytes: &[u8]| {
    let Ok(before) = envelope(bytes) else { return };
    let mut marked = bytes.to_vec();
    mark(&mut marked);
    assert_eq!(envelope(&marked), Ok(Envelope { ecn: Codepoint::Ce, ..before }));
    let checksum = if bytes[0] >> 4 == 4 { 10..12 } else { 0..0 };
    let differs = |at: &usize| bytes[*at] != marked[*at];
    assert!((0..bytes.len()).filter(differs).all(|at| at == 1 || checksum.contains(&at)));
});
