//! Any datagram to the port of a routing protocol is a message or an error, never a panic; and messages survive being
//! written. The same holds for the header of GPSR.

#![no_main]

use libfuzzer_sys::fuzz_target;
use lightlag_wire::routing::{self, Message, gpsr};
use lightlag_wire::{Addresses, IpFields, encode_udp};

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, payload)) = bytes.split_first() else { return };
    let (_, port) = Message::PROTOCOLS[usize::from(first) % Message::PROTOCOLS.len()];
    let addresses = Addresses { source: ([10, 0, 0, 1], port).into(), destination: ([255; 4], port).into() };
    let mut packet = Vec::new();
    encode_udp(&mut packet, &addresses, &IpFields { ttl: first, ..IpFields::default() }, payload);
    match routing::decode(&packet) {
        Ok(datagram) => {
            assert_eq!(datagram.message.size() as usize, payload.len());
            routing::encode(&mut packet, &datagram);
            assert_eq!(routing::decode(&packet), Ok(datagram));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let _ = routing::decode(payload);
    if let Ok((header, rest)) = gpsr::decode(payload) {
        let mut out = Vec::new();
        gpsr::encode(&mut out, &header);
        assert_eq!(gpsr::decode(&out), Ok((header, &[][..])));
        assert_eq!(out.len() + rest.len(), payload.len());
    }
});
