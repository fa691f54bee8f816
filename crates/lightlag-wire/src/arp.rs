//! ARP over 802.11 and Ethernet (RFC 826): which MAC address has an IPv4 address?

use crate::PacketError;
use crate::dot11::Address;
use std::net::Ipv4Addr;

/// Bytes of a packet.
pub const LEN: usize = 28;

/// Hardware addresses of Ethernet (6 bytes) for protocol addresses of IPv4 (4 bytes).
const ETHERNET_AND_IPV4: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// A packet of ARP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arp {
    /// A request or a reply.
    pub operation: Operation,
    /// The sender's addresses.
    pub sender: (Address, Ipv4Addr),
    /// The target's addresses. In a request the first is not known, and is all zeros.
    pub target: (Address, Ipv4Addr),
}

/// The purpose of a packet; its number is the value of the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Operation {
    /// Asks for the MAC address of the target.
    Request = 1,
    /// Tells the MAC address of the sender.
    Reply = 2,
}

impl Arp {
    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; LEN] {
        let mut out = [0; LEN];
        out[..6].copy_from_slice(&ETHERNET_AND_IPV4);
        out[7] = self.operation as u8;
        for (at, (mac, ip)) in [(8, self.sender), (18, self.target)] {
            out[at..at + 6].copy_from_slice(&mac.0);
            out[at + 6..at + 10].copy_from_slice(&ip.octets());
        }
        out
    }

    /// Reads a packet. Bytes after it are ignored.
    ///
    /// # Errors
    /// If the packet is cut, or is not a request or reply about Ethernet and IPv4.
    pub fn decode(packet: &[u8]) -> Result<Self, PacketError> {
        let truncated = PacketError::Truncated { needed: LEN, present: packet.len() };
        let (packet, _) = packet.split_first_chunk::<LEN>().ok_or(truncated)?;
        if packet[..6] != ETHERNET_AND_IPV4 {
            return Err(PacketError::NotArp);
        }
        let operation = match packet[6..8] {
            [0, 1] => Operation::Request,
            [0, 2] => Operation::Reply,
            _ => return Err(PacketError::NotArp),
        };
        let pair = |at: usize| {
            let mac: [u8; 6] = packet[at..at + 6].try_into().expect("six bytes");
            let ip: [u8; 4] = packet[at + 6..at + 10].try_into().expect("four bytes");
            (Address(mac), Ipv4Addr::from(ip))
        };
        Ok(Self { operation, sender: pair(8), target: pair(18) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_has_the_form_of_rfc_826() {
        let sender = (Address::of_node(0), Ipv4Addr::new(10, 0, 0, 1));
        let target = (Address([0; 6]), Ipv4Addr::new(10, 0, 0, 2));
        let bytes = Arp { operation: Operation::Request, sender, target }.encode();
        let right = [0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2];
        assert_eq!(bytes, right);
    }

    #[test]
    fn packets_of_other_networks_are_refused() {
        let pair = (Address::BROADCAST, Ipv4Addr::UNSPECIFIED);
        let bytes = Arp { operation: Operation::Reply, sender: pair, target: pair }.encode();
        for at in [0, 1, 2, 3, 4, 5, 6, 7] {
            let mut wrong = bytes;
            wrong[at] ^= 0x80;
            assert_eq!(Arp::decode(&wrong), Err(PacketError::NotArp), "byte {at}");
        }
        let cut = PacketError::Truncated { needed: 28, present: 27 };
        assert_eq!(Arp::decode(&bytes[..27]), Err(cut));
    }

    proptest! {
        #[test]
        fn a_packet_survives(is_reply: bool, macs: [[u8; 6]; 2], ips: [[u8; 4]; 2], padding: Vec<u8>) {
            let operation = if is_reply { Operation::Reply } else { Operation::Request };
            let [sender, target] = [0, 1].map(|end| (Address(macs[end]), Ipv4Addr::from(ips[end])));
            let arp = Arp { operation, sender, target };
            let mut bytes = arp.encode().to_vec();
            bytes.extend(padding);
            prop_assert_eq!(Arp::decode(&bytes), Ok(arp));
        }

        #[test]
        fn any_bytes_are_a_packet_or_an_error(bytes: Vec<u8>) {
            let _ = Arp::decode(&bytes);
        }
    }
}
