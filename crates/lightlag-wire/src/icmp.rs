//! Network errors about TCP segments: ICMP (RFC 792, RFC 1191) and ICMPv6 (RFC 4443).

use crate::ip::{self, IpPacket, pseudo_header, sums_up};
use crate::{Addresses, IpFields, PacketError};
use etherparse::IpNumber;
use etherparse::checksum::Sum16BitWords;
use etherparse::ip_number::{ICMP, IPV6_ICMP, TCP};
use lightlag_tcp::segment::SeqNumber;
use std::net::{IpAddr, SocketAddr};

/// An error that a router or host reports about a packet. The numbers are type and code, first for IPv4 and then for
/// IPv6.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// There is no route to the network or the address (IPv4: type 3, code 0; IPv6: type 1, code 0).
    NetworkUnreachable,
    /// The host cannot be reached (3, 1; 1, 3).
    HostUnreachable,
    /// The host does not support the transport protocol (3, 2; IPv6: parameter problem, next header: 4, 1).
    ProtocolUnreachable,
    /// No process listens on the port (3, 3; 1, 4).
    PortUnreachable,
    /// A filter prohibits the packet (3, 13; 1, 1).
    Prohibited,
    /// The packet is too large for the next link and must not be fragmented (3, 4; 2, 0).
    PacketTooBig {
        /// Maximum size of an IP packet that fits, in bytes; 0 from a router older than RFC 1191. In IPv4 the field has
        /// 16 bits.
        mtu: u32,
    },
    /// The time to live was exceeded in transit (11, 0; 3, 0).
    TimeExceeded,
}

/// A received error, with its sender and the segment that it is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IcmpError {
    /// Address of the router or host that reports the error.
    pub source: IpAddr,
    /// Destination of the error, which is the sender of the segment.
    pub destination: IpAddr,
    /// The error.
    pub error: Error,
    /// Addresses of the segment, in the direction in which it was sent.
    pub addresses: Addresses,
    /// Sequence number of the segment, with which TCP detects forged errors (RFC 5927 §4.1).
    pub seq: SeqNumber,
}

/// Maximum length of an error message, which is below the minimum MTU (RFC 1812 §4.3.2.3: 576 bytes; RFC 4443 §3.1:
/// 1,280). The message quotes as much of the packet as fits.
const LARGEST: (usize, usize) = (576, 1_280);

/// Length of an ICMP header in bytes: type, code, checksum, and four bytes that depend on the type.
const HEADER: usize = 8;

/// An ICMP type and code.
type IcmpType = (u8, u8);

/// Type and code of each error, for IPv4 and IPv6.
const CODES: [(Error, IcmpType, IcmpType); 7] = [
    (Error::NetworkUnreachable, (3, 0), (1, 0)),
    (Error::HostUnreachable, (3, 1), (1, 3)),
    (Error::ProtocolUnreachable, (3, 2), (4, 1)),
    (Error::PortUnreachable, (3, 3), (1, 4)),
    (Error::Prohibited, (3, 13), (1, 1)),
    (Error::PacketTooBig { mtu: 0 }, (3, 4), (2, 0)),
    (Error::TimeExceeded, (11, 0), (3, 0)),
];

/// Writes the packet with which `source` reports `error` about `packet` to the sender of `packet`. `out` is cleared
/// first.
///
/// # Errors
/// If `packet` is not an IP packet.
///
/// # Panics
/// If `source` and `packet` have different IP versions.
pub fn encode(out: &mut Vec<u8>, source: IpAddr, error: Error, packet: &[u8]) -> Result<(), PacketError> {
    let about = ip::parse(packet)?;
    let v6 = source.is_ipv6();
    let largest = if v6 { LARGEST.1 - 40 } else { LARGEST.0 - 20 };
    let whole = about.header_len + about.payload.len();
    let quoted = &packet[..whole.min(largest - HEADER)];
    let protocol = if v6 { IPV6_ICMP } else { ICMP };
    out.clear();
    ip::write(out, source, about.source, &IpFields::default(), protocol, HEADER + quoted.len());
    let start = out.len();
    let (kind, code) = codes(error, v6);
    out.extend_from_slice(&[kind, code, 0, 0]);
    let mtu = if let Error::PacketTooBig { mtu } = error { mtu } else { 0 };
    // RFC 1191 §4: the last 16 of the 32 bits. RFC 4443 §3.2: all of them.
    let mtu = if v6 { mtu } else { mtu.min(u32::from(u16::MAX)) };
    out.extend_from_slice(&mtu.to_be_bytes());
    out.extend_from_slice(quoted);
    let sum = begun(source, about.source, protocol, out.len() - start).add_slice(&out[start..]).ones_complement();
    out[start + 2..start + 4].copy_from_slice(&sum.to_ne_bytes());
    Ok(())
}

/// Returns the error that `packet` reports about a TCP segment; `Ok(None)` if it is another ICMP message.
///
/// # Errors
/// If the packet is damaged, truncated or not ICMP.
pub fn decode(packet: &[u8]) -> Result<Option<IcmpError>, PacketError> {
    let ip = ip::parse(packet)?;
    let v6 = ip.source.is_ipv6();
    let protocol = if v6 { IPV6_ICMP } else { ICMP };
    if ip.protocol != protocol.0 {
        return Err(PacketError::NotIcmp(ip.protocol));
    }
    if ip.payload.len() < ip.len.max(HEADER) {
        let needed = ip.header_len + ip.len.max(HEADER);
        return Err(PacketError::Truncated { needed, present: ip.header_len + ip.payload.len() });
    }
    let sum = begun(ip.source, ip.destination, protocol, ip.len);
    if !ip.checksum_is_right {
        return Err(PacketError::BadHeaderChecksum);
    }
    if !sums_up(sum, ip.payload) {
        return Err(PacketError::BadIcmpChecksum);
    }
    Ok(message(&ip, v6))
}

fn message(ip: &IpPacket, v6: bool) -> Option<IcmpError> {
    let (header, quoted) = ip.payload.split_at(HEADER);
    let kind = (header[0], header[1]);
    let &(error, ..) = CODES.iter().find(|(_, v4_codes, v6_codes)| kind == if v6 { *v6_codes } else { *v4_codes })?;
    let error = match error {
        Error::PacketTooBig { .. } => {
            let mtu = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
            Error::PacketTooBig { mtu: if v6 { mtu } else { mtu & 0xffff } }
        }
        other => other,
    };
    let about = ip::parse(quoted).ok()?;
    // RFC 792: at least 64 bits of the transport are quoted, enough for ports and sequence number.
    let tcp = about.payload.get(..8).filter(|_| about.protocol == TCP.0)?;
    let port = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    Some(IcmpError {
        source: ip.source,
        destination: ip.destination,
        error,
        addresses: Addresses {
            source: SocketAddr::new(about.source, port(0)),
            destination: SocketAddr::new(about.destination, port(2)),
        },
        seq: SeqNumber(u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]])),
    })
}

fn codes(error: Error, v6: bool) -> IcmpType {
    let same = |other: &Error| std::mem::discriminant(other) == std::mem::discriminant(&error);
    let (_, v4_codes, v6_codes) = CODES.iter().find(|(other, ..)| same(other)).expect("every error has codes");
    if v6 { *v6_codes } else { *v4_codes }
}

/// Returns the initial value of the checksum. ICMPv6 includes a pseudo-header (RFC 4443 §2.3), and ICMP does not.
pub(crate) fn begun(source: IpAddr, destination: IpAddr, protocol: IpNumber, len: usize) -> Sum16BitWords {
    if source.is_ipv6() { pseudo_header(source, destination, protocol, len) } else { Sum16BitWords::new() }
}

#[cfg(test)]
mod tests;
