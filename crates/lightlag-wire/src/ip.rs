//! The IP header of both versions.

use crate::{IpFields, PacketError};
use etherparse::checksum::Sum16BitWords;
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv6FlowLabel, Ipv6Header, Ipv6HeaderSlice};
use lightlag_core::{Codepoint, Dscp};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Extension headers that a host skips (RFC 8200 §4.1) to find the transport.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// The fields of an IP packet, and its contents.
#[derive(Clone, Copy, Debug)]
pub struct IpPacket<'a> {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub fields: IpFields,
    /// The protocol inside.
    pub protocol: u8,
    /// Bytes in front of the transport header.
    pub header_len: usize,
    /// Bytes of transport according to the header.
    pub len: usize,
    /// The bytes present: fewer if a capture cut the packet, and never the padding of Ethernet.
    pub payload: &'a [u8],
    /// Whether the header checksum is right; always true for IPv6, which has none.
    pub checksum_is_right: bool,
}

/// Parses the header in front of `packet`. If fewer bytes are present than the header announces, the caller decides.
pub fn parse(packet: &[u8]) -> Result<IpPacket<'_>, PacketError> {
    match packet.first().map(|byte| byte >> 4) {
        None => Err(PacketError::Truncated { needed: Ipv4Header::MIN_LEN, present: 0 }),
        Some(4) => parse_v4(packet),
        Some(6) => parse_v6(packet),
        Some(version) => Err(PacketError::NotIp(version)),
    }
}

fn parse_v4(packet: &[u8]) -> Result<IpPacket<'_>, PacketError> {
    let header_len = 4 * usize::from(packet[0] & 0xf);
    if header_len < Ipv4Header::MIN_LEN {
        return Err(PacketError::BadLength { header: "IPv4", length: header_len });
    }
    let truncated = PacketError::Truncated { needed: header_len, present: packet.len() };
    let header = Ipv4HeaderSlice::from_slice(packet).map_err(|_| truncated)?;
    let total = usize::from(header.total_len());
    if total == 0 {
        return Err(PacketError::ZeroLength);
    }
    if total < header_len {
        return Err(PacketError::BadLength { header: "IPv4", length: total });
    }
    if header.is_fragmenting_payload() {
        return Err(PacketError::Fragment);
    }
    Ok(IpPacket {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        fields: IpFields {
            dscp: Dscp::new(header.dcp().value()).unwrap_or_default(),
            ecn: codepoint(header.ecn()),
            ttl: header.ttl(),
            identification: header.identification(),
            dont_fragment: header.dont_fragment(),
        },
        protocol: header.protocol().0,
        header_len,
        len: total - header_len,
        payload: &packet[header_len..packet.len().min(total)],
        checksum_is_right: sums_up(Sum16BitWords::new(), header.slice()),
    })
}

fn parse_v6(packet: &[u8]) -> Result<IpPacket<'_>, PacketError> {
    let truncated = |needed| PacketError::Truncated { needed, present: packet.len() };
    let header = Ipv6HeaderSlice::from_slice(packet).map_err(|_| truncated(Ipv6Header::LEN))?;
    let total = Ipv6Header::LEN + usize::from(header.payload_length());
    let zero = header.payload_length() == 0;
    let (protocol, header_len) = match transport_v6(packet, header.next_header().0) {
        // RFC 2675 §3: the length field is 0, and a hop-by-hop option holds the real length.
        _ if zero && header.next_header().0 == HOP_BY_HOP => return Err(PacketError::Jumbogram),
        _ if zero => return Err(PacketError::ZeroLength),
        found => found?,
    };
    if header_len > total {
        return Err(PacketError::BadLength { header: "IPv6", length: total });
    }
    Ok(IpPacket {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        fields: IpFields {
            dscp: Dscp::new(header.dscp().value()).unwrap_or_default(),
            ecn: codepoint(header.ecn()),
            ttl: header.hop_limit(),
            identification: 0,
            dont_fragment: true,
        },
        protocol,
        header_len,
        len: total - header_len,
        payload: &packet[header_len..packet.len().min(total)],
        checksum_is_right: true,
    })
}

/// The protocol after the extension headers, and the position at which it starts.
fn transport_v6(packet: &[u8], first: u8) -> Result<(u8, usize), PacketError> {
    let (mut next, mut at) = (first, Ipv6Header::LEN);
    loop {
        let extension = match next {
            HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION_OPTIONS => packet.get(at..at + 8),
            _ => return Ok((next, at)),
        };
        let extension = extension.ok_or(PacketError::Truncated { needed: at + 8, present: packet.len() })?;
        if next == FRAGMENT {
            // RFC 8200 §4.5: 13 bits of offset, two reserved, more fragments. RFC 6946: all zero is a whole packet.
            if extension[2] != 0 || extension[3] & 0b1111_1001 != 0 {
                return Err(PacketError::Fragment);
            }
            at += 8;
        } else {
            at += 8 * (1 + usize::from(extension[1]));
            if at > packet.len() {
                return Err(PacketError::Truncated { needed: at, present: packet.len() });
            }
        }
        next = extension[0];
    }
}

/// Appends the IP header of a transport of `len` bytes.
pub fn write(
    out: &mut Vec<u8>,
    source: IpAddr,
    destination: IpAddr,
    fields: &IpFields,
    protocol: IpNumber,
    len: usize,
) {
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            out.extend_from_slice(&header_v4(source, destination, fields, protocol, len).to_bytes());
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            out.extend_from_slice(&header_v6(source, destination, fields, protocol, len).to_bytes());
        }
        _ => panic!("{source} and {destination} are of two versions of IP"),
    }
}

fn header_v4(from: Ipv4Addr, to: Ipv4Addr, fields: &IpFields, protocol: IpNumber, len: usize) -> Ipv4Header {
    let mut header = Ipv4Header {
        dscp: ip_dscp(fields.dscp),
        ecn: ip_ecn(fields.ecn),
        total_len: length_field(Ipv4Header::MIN_LEN + len),
        identification: fields.identification,
        dont_fragment: fields.dont_fragment,
        time_to_live: fields.ttl,
        protocol,
        source: from.octets(),
        destination: to.octets(),
        ..Ipv4Header::default()
    };
    header.header_checksum = header.calc_header_checksum();
    header
}

fn header_v6(from: Ipv6Addr, to: Ipv6Addr, fields: &IpFields, next_header: IpNumber, len: usize) -> Ipv6Header {
    let mut header = Ipv6Header {
        traffic_class: 0,
        flow_label: Ipv6FlowLabel::ZERO,
        payload_length: length_field(len),
        next_header,
        hop_limit: fields.ttl,
        source: from.octets(),
        destination: to.octets(),
    };
    header.set_dscp(ip_dscp(fields.dscp));
    header.set_ecn(ip_ecn(fields.ecn));
    header
}

fn length_field(len: usize) -> u16 {
    u16::try_from(len).unwrap_or_else(|_| panic!("a packet of {len} bytes is longer than IP allows"))
}

/// Whether the ones' complement sum over `bytes`, checksum included, is right (RFC 1071 §1).
pub fn sums_up(begun: Sum16BitWords, bytes: &[u8]) -> bool {
    begun.add_slice(bytes).ones_complement() == 0
}

/// The sum over the pseudo-header of both versions (RFC 9293 §3.1, RFC 8200 §8.1). It adds words as they lie in memory,
/// and its result is stored unchanged (RFC 1071 §2 B).
pub fn pseudo_header(source: IpAddr, destination: IpAddr, protocol: IpNumber, len: usize) -> Sum16BitWords {
    let mut sum = Sum16BitWords::new();
    for address in [source, destination] {
        sum = match address {
            IpAddr::V4(address) => sum.add_4bytes(address.octets()),
            IpAddr::V6(address) => sum.add_16bytes(address.octets()),
        };
    }
    sum.add_2bytes([0, protocol.0]).add_4bytes((len as u32).to_be_bytes())
}

fn codepoint(ecn: IpEcn) -> Codepoint {
    match ecn {
        IpEcn::NotEct => Codepoint::NotEct,
        IpEcn::Ect1 => Codepoint::Ect1,
        IpEcn::Ect0 => Codepoint::Ect0,
        IpEcn::CongestionExperienced => Codepoint::Ce,
    }
}

fn ip_dscp(dscp: Dscp) -> IpDscp {
    IpDscp::try_new(dscp.number()).expect("a code point has six bits")
}

fn ip_ecn(codepoint: Codepoint) -> IpEcn {
    match codepoint {
        Codepoint::NotEct => IpEcn::NotEct,
        Codepoint::Ect1 => IpEcn::Ect1,
        Codepoint::Ect0 => IpEcn::Ect0,
        Codepoint::Ce => IpEcn::CongestionExperienced,
    }
}
