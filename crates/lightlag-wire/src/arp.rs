//! ARP over 802.11 and Ethernet (RFC 826), which finds the MAC address for an IPv4 address.

use crate::PacketError;
use crate::dot11::Address;
use std::net::Ipv4Addr;

/// Length of a packet in bytes.
pub const LEN: usize = 28;

/// Start of a packet: hardware type Ethernet with addresses of 6 bytes, protocol IPv4 with addresses of 4 bytes.
const ETHERNET_AND_IPV4: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// An ARP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arp {
    /// A request or a reply.
    pub operation: Operation,
    /// The sender's addresses.
    pub sender: (Address, Ipv4Addr),
    /// The target's addresses. In a request, the MAC address is unknown and all zeros.
    pub target: (Address, Ipv4Addr),
}

/// The operation of a packet; the discriminant is the value of the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Operation {
    /// Requests the MAC address of the target.
    Request = 1,
    /// Announces the MAC address of the sender.
    Reply = 2,
}

impl Arp {
    /// Returns the bytes of the packet.
    #[must_use]
    pub fn encode(&self) -> [u8; LEN] {
        let mut out = [0; LEN];
        out[..6].copy_from_slice(&ETHERNET_AND_IPV4);
        out[7] = self.operation as u8;
        for (offset, (mac, ip)) in [(8, self.sender), (18, self.target)] {
            out[offset..offset + 6].copy_from_slice(&mac.0);
            out[offset + 6..offset + 10].copy_from_slice(&ip.octets());
        }
        out
    }

    /// Parses a packet. Bytes after it are ignored.
    ///
    /// # Errors
    /// If the packet is truncated, or is not a request or reply for Ethernet and IPv4.
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
    fn packets_of_other_networks_are_rejected() {
        let pair = (Address::BROADCAST, Ipv4Addr::UNSPECIFIED);
        let bytes = Arp { operation: Operation::Reply, sender: pair, target: pair }.encode();
        for index in [0, 1, 2, 3, 4, 5, 6, 7] {
            let mut wrong = bytes;
            wrong[index] ^= 0x80;
            assert_eq!(Arp::decode(&wrong), Err(PacketError::NotArp), "byte {index}");
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
