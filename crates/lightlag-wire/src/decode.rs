//! Parses an IP packet with a TCP segment. Any bytes give a segment or an error.

use crate::ip::{self, Captured, IpPacket, pseudo_header, sums_up};
use crate::options::Gathered;
use crate::{Addresses, Checksum, PacketError, TcpPacket, URG};
use etherparse::ip_number::TCP;
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber};
use std::net::SocketAddr;

/// Returns the TCP segment in a packet that a host received, which must be complete and have correct checksums. Bytes
/// after the packet, such as the padding of a short Ethernet frame, are ignored.
///
/// # Errors
/// If a host would reject the packet; see [`PacketError`] for the reasons.
pub fn decode(packet: &[u8]) -> Result<TcpPacket<'_>, PacketError> {
    let ip = ip::parse(packet)?;
    if !ip.checksum_is_right {
        return Err(PacketError::BadHeaderChecksum);
    }
    let tcp = segment(&ip, MIN_HEADER)?;
    if tcp.options_cut {
        let needed = ip.header_len + header_len(&ip)?;
        return Err(PacketError::Truncated { needed, present: ip.header_len + ip.payload.len() });
    }
    match tcp.checksum {
        Checksum::Valid => Ok(tcp),
        Checksum::Invalid => Err(PacketError::BadTcpChecksum),
        Checksum::Unknown => {
            Err(PacketError::Truncated { needed: ip.header_len + ip.len, present: ip.header_len + ip.payload.len() })
        }
    }
}

/// Length of the TCP header without options, in bytes.
const MIN_HEADER: usize = 20;
/// Length of the TCP header up to and including the window, in bytes. A captured packet may be truncated after it.
const UP_TO_WINDOW: usize = 16;

/// Returns the TCP segment in a captured packet, which may be incomplete in three ways. It may be truncated after the
/// window field ("snap length"), its checksums may not be filled in yet, and its length field may be zero because the
/// network card was to segment it.
///
/// # Errors
/// As for [`decode`], except for checksums, missing data and options, and lengths that occur only in captures.
pub fn decode_captured<'a>(packet: impl Into<Captured<'a>>) -> Result<TcpPacket<'a>, PacketError> {
    segment(&ip::parse_captured(packet.into())?, UP_TO_WINDOW)
}

/// Reads the segment of an IP packet, of whose TCP header at least `floor` bytes must be present.
fn segment<'a>(ip: &IpPacket<'a>, floor: usize) -> Result<TcpPacket<'a>, PacketError> {
    if ip.protocol != TCP.0 {
        return Err(PacketError::NotTcp(ip.protocol));
    }
    let header_len = header_len(ip)?;
    let bytes = ip.payload;
    if bytes.len() < floor {
        return Err(PacketError::Truncated { needed: ip.header_len + floor, present: ip.header_len + bytes.len() });
    }
    let short = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let number = |at: usize| SeqNumber(u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
    let bits = short(12);
    let flags = Flags(bits & crate::FLAGS);
    let options_cut = bytes.len() < header_len;
    let end = header_len.min(bytes.len());
    let options = Gathered::parse(&bytes[MIN_HEADER.min(end)..end], flags, options_cut);
    let mut plain = Segment::new(number(4), number(8), short(14), flags);
    let payload_len = ip.len - header_len;
    plain.len = u16::try_from(payload_len).unwrap_or(u16::MAX);
    Ok(TcpPacket {
        addresses: Addresses {
            source: SocketAddr::new(ip.source, short(0)),
            destination: SocketAddr::new(ip.destination, short(2)),
        },
        ip: ip.fields,
        segment: options.apply(plain),
        payload_len: payload_len as u32,
        payload: &bytes[end..],
        urgent: (bits & URG != 0 && bytes.len() >= MIN_HEADER).then(|| short(18)),
        unknown_options: options.unknown,
        malformed_options: options.malformed,
        options_cut,
        wire_len: (ip.header_len + ip.len) as u32,
        checksum: checksum(ip),
    })
}

/// Returns the length of the TCP header in bytes, after checking that it does not exceed the length that the IP header
/// states.
fn header_len(ip: &IpPacket) -> Result<usize, PacketError> {
    let present = ip.header_len + ip.payload.len();
    if ip.len < MIN_HEADER {
        return Err(PacketError::BadLength { header: "TCP", length: ip.len });
    }
    let truncated = PacketError::Truncated { needed: ip.header_len + MIN_HEADER, present };
    let length = 4 * usize::from(ip.payload.get(12).ok_or(truncated)? >> 4);
    if !(MIN_HEADER..=ip.len).contains(&length) {
        return Err(PacketError::BadLength { header: "TCP", length });
    }
    Ok(length)
}

fn checksum(ip: &IpPacket) -> Checksum {
    if ip.payload.len() < ip.len {
        Checksum::Unknown
    } else if ip.checksum_is_right && sums_up(pseudo_header(ip.source, ip.destination, TCP, ip.len), ip.payload) {
        Checksum::Valid
    } else {
        Checksum::Invalid
    }
}
