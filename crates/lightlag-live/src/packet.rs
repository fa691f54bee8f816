//! The properties of a real IP packet that a link uses: whether it is valid, its ECN field, and its flow.
//!
//! No other fields are read, and only the ECN field is ever changed.

/// The reason why bytes read from a device are not a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// Neither IPv4 nor IPv6, or empty.
    NotIp,
    /// The packet is shorter than its header, or than the length that its header states.
    Truncated,
}

/// The properties of a packet that a link uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope {
    /// The ECN field of its header.
    pub ecn: Codepoint,
    /// Hash of protocol, addresses and ports, for queues that separate flows (RFC 8290 §4.1.1).
    pub flow: u32,
    /// Whether there is payload after the transport header. A pure TCP ACK has none.
    pub carries_payload: bool,
}

use lightlag_core::Codepoint;
use std::net::IpAddr;

const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Protocol numbers of TCP, UDP, DCCP, SCTP and UDP-Lite, whose first four bytes are the two ports.
const WITH_PORTS: [u8; 5] = [TCP, UDP, 33, 132, 136];

/// Reads the properties of a packet.
///
/// # Errors
/// If it is not a complete IP packet.
pub fn envelope(packet: &[u8]) -> Result<Envelope, Fault> {
    match packet.first().map(|first| first >> 4) {
        Some(4) => ipv4(packet),
        Some(6) => ipv6(packet),
        _ => Err(Fault::NotIp),
    }
}

/// Returns the destination of a packet that [`envelope`] accepts.
pub fn destination(packet: &[u8]) -> Option<IpAddr> {
    match packet.first().map(|first| first >> 4) {
        Some(4) => Some(IpAddr::from(<[u8; 4]>::try_from(packet.get(16..20)?).ok()?)),
        Some(6) => Some(IpAddr::from(<[u8; 16]>::try_from(packet.get(24..40)?).ok()?)),
        _ => None,
    }
}

/// Reads an IPv4 packet (RFC 791 §3.1).
fn ipv4(packet: &[u8]) -> Result<Envelope, Fault> {
    let header = usize::from(packet[0] & 0xf) * 4;
    if header < IPV4_HEADER {
        return Err(Fault::NotIp);
    }
    if packet.len() < header {
        return Err(Fault::Truncated);
    }
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    if total < header {
        return Err(Fault::NotIp);
    }
    if packet.len() < total {
        return Err(Fault::Truncated);
    }
    // Only the first fragment has the ports, so all fragments are hashed by their addresses.
    let is_fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0;
    let ports = if is_fragment { &[] } else { ports(packet[9], &packet[header..]) };
    let carries_payload = is_fragment || carries_payload(packet[9], &packet[header..total]);
    Ok(Envelope { ecn: ecn(packet[1]), flow: hash(packet[9], &packet[12..20], ports), carries_payload })
}

/// Reads an IPv6 packet (RFC 8200 §3). Extension headers are not parsed: for a packet that has one, only the addresses
/// are hashed.
fn ipv6(packet: &[u8]) -> Result<Envelope, Fault> {
    if packet.len() < IPV6_HEADER {
        return Err(Fault::Truncated);
    }
    let payload = usize::from(u16::from_be_bytes([packet[4], packet[5]]));
    if packet.len() < IPV6_HEADER + payload {
        return Err(Fault::Truncated);
    }
    let content = &packet[IPV6_HEADER..IPV6_HEADER + payload];
    let (ports, carries_payload) = (ports(packet[6], content), carries_payload(packet[6], content));
    Ok(Envelope { ecn: ecn(packet[1] >> 4), flow: hash(packet[6], &packet[8..40], ports), carries_payload })
}

/// Returns true if payload follows the transport header (RFC 9293 §3.1, RFC 768). For any other protocol, all content
/// counts as payload.
fn carries_payload(protocol: u8, content: &[u8]) -> bool {
    match protocol {
        TCP => content.get(12).is_none_or(|offset| content.len() > usize::from(offset >> 4) * 4),
        UDP => content.len() > 8,
        _ => !content.is_empty(),
    }
}

fn ports(protocol: u8, payload: &[u8]) -> &[u8] {
    if WITH_PORTS.contains(&protocol) { payload.get(..4).unwrap_or(&[]) } else { &[] }
}

fn ecn(field: u8) -> Codepoint {
    match field & 0b11 {
        0b00 => Codepoint::NotEct,
        0b01 => Codepoint::Ect1,
        0b10 => Codepoint::Ect0,
        _ => Codepoint::Ce,
    }
}

/// Returns the FNV-1a hash of protocol, addresses and ports, folded to 32 bits.
fn hash(protocol: u8, addresses: &[u8], ports: &[u8]) -> u32 {
    let bytes = std::iter::once(&protocol).chain(addresses).chain(ports);
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (hash ^ (hash >> 32)) as u32
}

/// Sets the ECN field of a packet that [`envelope`] has accepted to CE, as a router does (RFC 3168 §5), and corrects
/// the checksum of an IPv4 header (RFC 1624 §3, equation 3).
///
/// # Panics
/// If `envelope` would reject the packet.
pub fn mark(packet: &mut [u8]) {
    if packet[0] >> 4 == 6 {
        packet[1] |= 0b11 << 4;
        return;
    }
    let old = u16::from_be_bytes([packet[0], packet[1]]);
    packet[1] |= 0b11;
    let new = u16::from_be_bytes([packet[0], packet[1]]);
    let sum = u16::from_be_bytes([packet[10], packet[11]]);
    let mut repaired = u32::from(!sum) + u32::from(!old) + u32::from(new);
    repaired = (repaired & 0xffff) + (repaired >> 16);
    repaired = (repaired & 0xffff) + (repaired >> 16);
    packet[10..12].copy_from_slice(&(!(repaired as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the Internet checksum (RFC 1071). It is 0 over a header that contains its correct checksum.
    fn checksum(bytes: &[u8]) -> u16 {
        let mut sum = bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum::<u32>();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    /// Returns an IPv4 packet with this TOS byte (DSCP and ECN), these fragment fields, and `payload` after the header.
    fn v4(tos: u8, protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, tos, 0, 0, 1, 2, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet.extend(payload);
        let total = packet.len() as u16;
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        packet[6..8].copy_from_slice(&fragment.to_be_bytes());
        let sum = checksum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    }

    fn v6(class: u8, next: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60 | class >> 4, class << 4, 0, 0];
        packet.extend((payload.len() as u16).to_be_bytes());
        packet.extend([next, 64]);
        packet.extend([0xfd; 32]);
        packet.extend(payload);
        packet
    }

    #[test]
    fn the_ecn_field_is_read_in_both_versions() {
        for (bits, field) in [(0, Codepoint::NotEct), (1, Codepoint::Ect1), (2, Codepoint::Ect0), (3, Codepoint::Ce)] {
            assert_eq!(envelope(&v4(0b1011_1000 | bits, 6, 0, &[0; 20])).unwrap().ecn, field);
            assert_eq!(envelope(&v6(0b1011_1000 | bits, 6, &[0; 20])).unwrap().ecn, field);
        }
    }

    #[test]
    fn ports_distinguish_flows_and_fragments_stay_together() {
        let flow = |packet: &[u8]| envelope(packet).unwrap().flow;
        assert_eq!(flow(&v4(0, 6, 0, &[0, 1, 0, 2, 9])), flow(&v4(2, 6, 0, &[0, 1, 0, 2, 7])));
        assert_ne!(flow(&v4(0, 6, 0, &[0, 1, 0, 2])), flow(&v4(0, 6, 0, &[0, 1, 0, 3])));
        assert_ne!(flow(&v6(0, 17, &[0, 1, 0, 2])), flow(&v6(0, 17, &[0, 1, 0, 3])));
        // More fragments, and the last one: neither is hashed by the bytes at the position of ports.
        assert_eq!(flow(&v4(0, 17, 0x2000, &[0, 1, 0, 2])), flow(&v4(0, 17, 0x0010, &[5, 6, 7, 8])));
        // ICMP has no ports.
        assert_eq!(flow(&v4(0, 1, 0, &[8, 0, 1, 2])), flow(&v4(0, 1, 0, &[0, 0, 3, 4])));
        // Four bytes of a transport header may be missing.
        assert!(envelope(&v4(0, 6, 0, &[1])).is_ok());
    }

    #[test]
    fn the_destination_is_read_in_both_versions() {
        assert_eq!(destination(&v4(0, 6, 0, &[])), Some("10.0.0.2".parse().unwrap()));
        let six = v6(0, 6, &[]);
        assert_eq!(destination(&six), Some(IpAddr::from([0xfd; 16])));
        assert_eq!((destination(&six[..39]), destination(&[])), (None, None));
    }

    #[test]
    fn an_acknowledgement_carries_no_payload() {
        let segment = |payload: usize| {
            let mut segment = vec![0; 32 + payload];
            segment[12] = 8 << 4;
            segment
        };
        let carries = |packet: &[u8]| envelope(packet).unwrap().carries_payload;
        for (payload, expected) in [(0, false), (1, true)] {
            assert_eq!(carries(&v4(0, 6, 0, &segment(payload))), expected);
            assert_eq!(carries(&v6(0, 6, &segment(payload))), expected);
            assert_eq!(carries(&v6(0, 17, &vec![0; 8 + payload])), expected);
        }
        // Padding after the packet is not payload.
        assert!(!carries(&[v4(0, 6, 0, &segment(0)), vec![0; 6]].concat()));
    }

    #[test]
    fn an_incomplete_packet_is_rejected() {
        assert_eq!(envelope(&[]), Err(Fault::NotIp));
        assert_eq!(envelope(&[0x15; 60]), Err(Fault::NotIp));
        assert_eq!(envelope(&[0x45; 19]), Err(Fault::Truncated));
        assert_eq!(envelope(&[0x44; 60]), Err(Fault::NotIp));
        let (four, six) = (v4(0, 6, 0, &[0; 20]), v6(0, 6, &[0; 20]));
        for packet in [&four, &six] {
            for len in 1..packet.len() {
                assert_eq!(envelope(&packet[..len]), Err(Fault::Truncated), "{len}");
            }
            assert!(envelope(packet).is_ok());
        }
        // Extra bytes after the packet do no harm: the receiver cuts them off.
        assert!(envelope(&[&four[..], &[0; 6]].concat()).is_ok());
        // A total length shorter than the header.
        assert_eq!(envelope(&[&four[..2], &[0, 19], &four[4..]].concat()), Err(Fault::NotIp));
    }

    proptest! {
        #[test]
        fn marking_keeps_the_checksum_right(tos in any::<u8>(), protocol in any::<u8>(), id in any::<u8>()) {
            let mut packet = v4(tos, protocol, 0, &[id; 8]);
            mark(&mut packet);
            prop_assert_eq!(checksum(&packet[..20]), 0);
            prop_assert_eq!(packet[1], tos | 3);
            prop_assert_eq!(envelope(&packet).unwrap().ecn, Codepoint::Ce);
            let mut packet = v6(tos, protocol, &[id; 8]);
            let before = packet.clone();
            mark(&mut packet);
            prop_assert_eq!(envelope(&packet).unwrap().ecn, Codepoint::Ce);
            packet[1] = before[1];
            prop_assert_eq!(packet, before);
        }

        #[test]
        fn any_bytes_are_a_packet_or_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..80), version in 0u8..16) {
            let mut bytes = bytes;
            if let Some(first) = bytes.first_mut() {
                *first = version << 4 | *first & 0xf;
            }
            if envelope(&bytes).is_ok() {
                mark(&mut bytes);
                prop_assert_eq!(envelope(&bytes).unwrap().ecn, Codepoint::Ce);
            }
        }
    }
}
