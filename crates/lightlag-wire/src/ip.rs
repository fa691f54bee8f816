//! The IP header, for both versions.

use crate::{IpFields, PacketError};
use etherparse::checksum::Sum16BitWords;
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv4HeaderSlice, Ipv6FlowLabel, Ipv6Header, Ipv6HeaderSlice};
use lightlag_core::{Codepoint, Dscp};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Extension headers that a host skips to find the transport header (RFC 8200 §4.1).
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;
/// Authentication header (RFC 4302), whose length field counts units of four bytes.
const AUTHENTICATION: u8 = 51;
/// Next-header value for a packet without a transport header (RFC 8200 §4.7).
const NO_NEXT_HEADER: u8 = 59;
/// The hop-by-hop option with the length of a jumbogram (RFC 2675 §2).
const JUMBO_PAYLOAD: u8 = 0xc2;
const PAD1: u8 = 0;

/// The fields of an IP packet, and its payload.
#[derive(Clone, Copy, Debug)]
pub struct IpPacket<'a> {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub fields: IpFields,
    /// Protocol number of the payload.
    pub protocol: u8,
    /// Number of bytes before the transport header.
    pub header_len: usize,
    /// Length of the payload in bytes, according to the header.
    pub len: usize,
    /// The bytes of the payload that are present: fewer if a capture truncated the packet, and never the padding of
    /// Ethernet.
    pub payload: &'a [u8],
    /// Whether the header checksum is correct; always true for IPv6, which has none.
    pub checksum_is_right: bool,
}

/// Parses the header at the start of `packet`. If fewer bytes are present than the header states, the caller has to
/// decide what to do.
pub fn parse(packet: &[u8]) -> Result<IpPacket<'_>, PacketError> {
    parse_any(packet, AcceptedForms::default())
}

/// A captured IP packet, which the capture may have truncated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Captured<'a> {
    /// The bytes present, up to the end of the frame.
    pub bytes: &'a [u8],
    /// Number of bytes up to the end of the frame on the wire.
    pub wire_len: usize,
}

impl<'a, B: AsRef<[u8]> + ?Sized> From<&'a B> for Captured<'a> {
    /// Creates a packet without missing bytes.
    fn from(bytes: &'a B) -> Self {
        let bytes = bytes.as_ref();
        Self { bytes, wire_len: bytes.len() }
    }
}

/// Maximum length of a captured packet in bytes, whatever its length fields state.
const LARGEST_CAPTURED: usize = 1 << 24;

/// Parses the header of a captured packet. Also accepts what occurs only in captures: a length of zero (segmentation by
/// the network card), a jumbogram, or an authentication header.
pub fn parse_captured(packet: Captured<'_>) -> Result<IpPacket<'_>, PacketError> {
    parse_any(packet.bytes, AcceptedForms::captured(packet))
}

/// Parses the header of a packet that may carry a tunnel. Unlike [`parse_captured`], it treats the first fragment of an
/// IPv4 packet as a truncated packet, which suffices for the headers inside a tunnel, because they have their own
/// lengths.
pub fn parse_tunnel(packet: Captured<'_>) -> Result<IpPacket<'_>, PacketError> {
    let form = AcceptedForms { first_fragment: true, ..AcceptedForms::captured(packet) };
    parse_any(packet.bytes, form)
}

/// Additional forms of packets that a parser accepts.
#[derive(Clone, Copy, Default)]
struct AcceptedForms {
    /// For a captured packet, which may be truncated or lack a length: its length on the wire.
    wire_len: Option<usize>,
    /// Whether the packet may be the first fragment of an IPv4 packet.
    first_fragment: bool,
}

impl AcceptedForms {
    fn captured(packet: Captured<'_>) -> Self {
        let present = packet.bytes.len();
        Self { wire_len: Some(packet.wire_len.clamp(present, LARGEST_CAPTURED.max(present))), first_fragment: false }
    }
}

fn parse_any(packet: &[u8], form: AcceptedForms) -> Result<IpPacket<'_>, PacketError> {
    match packet.first().map(|byte| byte >> 4) {
        None => Err(PacketError::Truncated { needed: Ipv4Header::MIN_LEN, present: 0 }),
        Some(4) => parse_v4(packet, form),
        Some(6) => parse_v6(packet, form.wire_len),
        Some(version) => Err(PacketError::NotIp(version)),
    }
}

fn parse_v4(
    packet: &[u8],
    AcceptedForms { wire_len, first_fragment }: AcceptedForms,
) -> Result<IpPacket<'_>, PacketError> {
    let header_len = 4 * usize::from(packet[0] & 0xf);
    if header_len < Ipv4Header::MIN_LEN {
        return Err(PacketError::BadLength { header: "IPv4", length: header_len });
    }
    let truncated = PacketError::Truncated { needed: header_len, present: packet.len() };
    let header = Ipv4HeaderSlice::from_slice(packet).map_err(|_| truncated)?;
    let total = match (usize::from(header.total_len()), wire_len) {
        (0, Some(wire_len)) => wire_len,
        (0, None) => return Err(PacketError::ZeroLength),
        (total, _) => total,
    };
    if total < header_len {
        return Err(PacketError::BadLength { header: "IPv4", length: total });
    }
    let is_first = first_fragment && header.fragments_offset().value() == 0;
    if header.is_fragmenting_payload() && !is_first {
        return Err(PacketError::Fragment);
    }
    let (protocol, start) = match header.protocol().0 {
        AUTHENTICATION if wire_len.is_some() => {
            let extension = Extension::at(packet, header_len, AUTHENTICATION)?;
            (extension.next, extension.end)
        }
        protocol => (protocol, header_len),
    };
    if total < start {
        return Err(PacketError::BadLength { header: "IPv4", length: total });
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
        protocol,
        header_len: start,
        len: total - start,
        payload: &packet[start..packet.len().min(total)],
        checksum_is_right: sums_up(Sum16BitWords::new(), header.slice()),
    })
}

fn parse_v6(packet: &[u8], wire_len: Option<usize>) -> Result<IpPacket<'_>, PacketError> {
    let truncated = |needed| PacketError::Truncated { needed, present: packet.len() };
    let header = Ipv6HeaderSlice::from_slice(packet).map_err(|_| truncated(Ipv6Header::LEN))?;
    let first = header.next_header().0;
    let total = match (usize::from(header.payload_length()), wire_len) {
        // RFC 2675 §3: the length field is 0, and a hop-by-hop option holds the real length.
        (0, None) if first == HOP_BY_HOP => return Err(PacketError::Jumbogram),
        (0, None) => return Err(PacketError::ZeroLength),
        (0, Some(_)) if first == NO_NEXT_HEADER => Ipv6Header::LEN,
        (0, Some(wire_len)) => jumbo_len(packet, first).map_or(wire_len, |len| len.min(wire_len)),
        (len, _) => Ipv6Header::LEN + len,
    };
    let (protocol, header_len) = transport_v6(packet, first, wire_len.is_some())?;
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

/// One IPv6 extension header.
struct Extension {
    /// Protocol number of the next header.
    next: u8,
    /// Position after the extension header.
    end: usize,
}

impl Extension {
    /// Parses the extension header of this `kind` at `index`.
    fn at(packet: &[u8], index: usize, kind: u8) -> Result<Self, PacketError> {
        let truncated = |needed| PacketError::Truncated { needed, present: packet.len() };
        let header = packet.get(index..index + 8).ok_or(truncated(index + 8))?;
        let end = index
            + match kind {
                FRAGMENT => 8,
                AUTHENTICATION => 4 * (2 + usize::from(header[1])),
                _ => 8 * (1 + usize::from(header[1])),
            };
        // RFC 8200 §4.5: 13 bits of offset, two reserved, more fragments. RFC 6946: all zero is a complete packet.
        if kind == FRAGMENT && (header[2] != 0 || header[3] & 0b1111_1001 != 0) {
            return Err(PacketError::Fragment);
        }
        if end > packet.len() { Err(truncated(end)) } else { Ok(Self { next: header[0], end }) }
    }
}

/// Returns the protocol number after the extension headers, and the position of its header.
fn transport_v6(packet: &[u8], first: u8, captured: bool) -> Result<(u8, usize), PacketError> {
    let (mut next, mut offset) = (first, Ipv6Header::LEN);
    while matches!(next, HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION_OPTIONS) || captured && next == AUTHENTICATION {
        let extension = Extension::at(packet, offset, next)?;
        (next, offset) = (extension.next, extension.end);
    }
    Ok((next, offset))
}

/// Returns the total length of a jumbogram, IPv6 header included, from its hop-by-hop option; `None` if there is none.
fn jumbo_len(packet: &[u8], first: u8) -> Option<usize> {
    if first != HOP_BY_HOP {
        return None;
    }
    let end = Extension::at(packet, Ipv6Header::LEN, HOP_BY_HOP).ok()?.end;
    let mut options = &packet[Ipv6Header::LEN + 2..end];
    loop {
        match *options {
            [PAD1, ref rest @ ..] => options = rest,
            [JUMBO_PAYLOAD, 4, a, b, c, d, ..] => {
                return Some((u32::from_be_bytes([a, b, c, d]) as usize).saturating_add(Ipv6Header::LEN));
            }
            [_, len, ref rest @ ..] => options = rest.get(usize::from(len)..)?,
            _ => return None,
        }
    }
}

/// Appends an IP header for a transport header and payload of `len` bytes in total.
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
        _ => panic!("{source} and {destination} have different IP versions"),
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

/// Returns true if the ones' complement sum over `bytes`, checksum included, is correct (RFC 1071 §1).
pub fn sums_up(begun: Sum16BitWords, bytes: &[u8]) -> bool {
    begun.add_slice(bytes).ones_complement() == 0
}

/// Returns the sum over the pseudo-header of either version (RFC 9293 §3.1, RFC 8200 §8.1). Words are added in the byte
/// order of memory, and the result is stored unchanged (RFC 1071 §2 B).
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
