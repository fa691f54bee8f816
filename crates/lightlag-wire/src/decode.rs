//! Turns any bytes into the segment of an IP packet, or an error.

use crate::ip::{self, IpPacket, pseudo_header, sums_up};
use crate::options::Gathered;
use crate::{Addresses, Checksum, PacketError, TcpPacket, URG};
use etherparse::TcpHeaderSlice;
use etherparse::ip_number::TCP;
use lightlag_tcp::Segment;
use lightlag_tcp::segment::{Flags, SeqNumber};
use std::net::SocketAddr;

/// The TCP segment in a packet that a host received: complete, and with correct checksums. Bytes after the packet, with
/// which Ethernet pads a short frame, are ignored.
///
/// # Errors
/// Any reason for a host to refuse the packet; see [`PacketError`].
pub fn decode(packet: &[u8]) -> Result<TcpPacket<'_>, PacketError> {
    let ip = ip::parse(packet)?;
    if !ip.checksum_is_right {
        return Err(PacketError::BadHeaderChecksum);
    }
    let tcp = segment(&ip)?;
    match tcp.checksum {
        Checksum::Valid => Ok(tcp),
        Checksum::Invalid => Err(PacketError::BadTcpChecksum),
        Checksum::Unknown => {
            Err(PacketError::Truncated { needed: ip.header_len + ip.len, present: ip.header_len + ip.payload.len() })
        }
    }
}

/// The TCP segment in a captured packet. Its data may be cut ("snap length"), and its checksums may not be filled in
/// yet.
///
/// # Errors
/// As [`decode`], except for checksums and missing data.
pub fn decode_captured(packet: &[u8]) -> Result<TcpPacket<'_>, PacketError> {
    segment(&ip::parse(packet)?)
}

fn segment<'a>(ip: &IpPacket<'a>) -> Result<TcpPacket<'a>, PacketError> {
    if ip.protocol != TCP.0 {
        return Err(PacketError::NotTcp(ip.protocol));
    }
    let header_len = header_len(ip)?;
    let needed = ip.header_len + header_len;
    let present = ip.header_len + ip.payload.len();
    let header = TcpHeaderSlice::from_slice(ip.payload).map_err(|_| PacketError::Truncated { needed, present })?;
    let bits = u16::from_be_bytes([ip.payload[12], ip.payload[13]]);
    let flags = Flags(bits & crate::FLAGS);
    let options = Gathered::parse(header.options(), flags);
    let mut plain = Segment::new(
        SeqNumber(header.sequence_number()),
        SeqNumber(header.acknowledgment_number()),
        header.window_size(),
        flags,
    );
    plain.len = (ip.len - header_len) as u16;
    Ok(TcpPacket {
        addresses: Addresses {
            source: SocketAddr::new(ip.source, header.source_port()),
            destination: SocketAddr::new(ip.destination, header.destination_port()),
        },
        ip: ip.fields,
        segment: options.apply(plain),
        payload: &ip.payload[header_len..],
        urgent: (bits & URG != 0).then(|| header.urgent_pointer()),
        unknown_options: options.unknown,
        malformed_options: options.malformed,
        wire_len: (ip.header_len + ip.len) as u32,
        checksum: checksum(ip),
    })
}

/// Bytes of the TCP header. The packet holds at least that many.
fn header_len(ip: &IpPacket) -> Result<usize, PacketError> {
    let truncated = PacketError::Truncated { needed: ip.header_len + 20, present: ip.header_len + ip.payload.len() };
    if ip.len < 20 {
        return Err(PacketError::BadLength { header: "TCP", length: ip.len });
    }
    let length = 4 * usize::from(ip.payload.get(12).ok_or(truncated)? >> 4);
    if !(20..=ip.len).contains(&length) {
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
