//! Recognises relayed packets.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hasher};

/// Maximum number of packets that are remembered per reader.
const MOST: usize = 4096;

/// The latest packets, regardless of their TTL.
#[derive(Clone, Debug, Default)]
pub struct Relayed {
    /// Highest TTL with which each packet was received, by a hash of the packet.
    heard: BTreeMap<u64, u8>,
    order: VecDeque<u64>,
}

impl Relayed {
    /// Records an IP packet received at an interface. Returns true if it was received there before with a higher TTL,
    /// which means that another station has relayed it.
    pub fn is_copy(&mut self, interface: u32, ip: &[u8]) -> bool {
        let Some((ttl, rest)) = split(ip) else { return false };
        let mut hash = DefaultHasher::new();
        hash.write_u32(interface);
        rest.into_iter().for_each(|part| hash.write(part));
        let key = hash.finish();
        if let Some(greatest) = self.heard.get_mut(&key) {
            let is_copy = ttl < *greatest;
            *greatest = ttl.max(*greatest);
            return is_copy;
        }
        if self.order.len() == MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.heard.remove(&oldest);
        }
        self.heard.insert(key, ttl);
        self.order.push_back(key);
        false
    }
}

/// Returns the TTL of a packet, and the bytes that relays do not change: all except TTL and checksum (RFC 791), or hop
/// limit (RFC 8200).
fn split(ip: &[u8]) -> Option<(u8, [&[u8]; 3])> {
    match ip.first()? >> 4 {
        4 if ip.len() >= 20 => Some((ip[8], [&ip[..8], &ip[9..10], &ip[12..]])),
        6 if ip.len() >= 40 => Some((ip[7], [&ip[..7], &[], &ip[8..]])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(version: u8, ttl: u8, last: u8) -> Vec<u8> {
        let mut ip = vec![0; 60];
        ip[0] = version << 4 | 5;
        ip[if version == 4 { 8 } else { 7 }] = ttl;
        if version == 4 {
            ip[10] = ttl ^ 0x5a;
        }
        ip[59] = last;
        ip
    }

    #[test]
    fn a_packet_with_a_lower_ttl_was_passed_on() {
        for version in [4, 6] {
            let mut relayed = Relayed::default();
            let mut is_copy = |interface, ttl, last| relayed.is_copy(interface, &packet(version, ttl, last));
            assert!(!is_copy(0, 64, 1) && is_copy(0, 63, 1) && is_copy(0, 62, 1));
            assert!(is_copy(0, 63, 1), "a relay retransmits it over another path");
            assert!(!is_copy(0, 64, 1), "retransmitted by its origin");
            assert!(!is_copy(0, 63, 2) && !is_copy(0, 63, 2), "equal packets from one hop");
            assert!(!is_copy(1, 62, 1), "another interface");
        }
    }

    #[test]
    fn bytes_that_are_not_a_packet_are_not_copies() {
        let mut relayed = Relayed::default();
        for bytes in [&[][..], &[0x45; 19], &[0x60; 39], &[0x00; 60]] {
            assert!(!relayed.is_copy(0, bytes) && !relayed.is_copy(0, bytes));
        }
    }

    #[test]
    fn the_oldest_is_forgotten() {
        let mut relayed = Relayed::default();
        let number = |number: u32, ttl: u8| {
            let mut ip = packet(4, ttl, 0);
            ip[40..44].copy_from_slice(&number.to_be_bytes());
            ip
        };
        assert!((0..MOST as u32 + 1).all(|at| !relayed.is_copy(0, &number(at, 9))));
        assert!(!relayed.is_copy(0, &number(0, 8)), "forgotten");
        assert!(relayed.is_copy(0, &number(MOST as u32, 8)));
    }
}
