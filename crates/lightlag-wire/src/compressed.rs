//! Compressed SCPS-TP headers in IP packets. [`lightlag_tcp::segment::compressed`] describes their layout.
//!
//! **Protocol number.** 105, which the IANA registry calls "SCPS", and which MITRE's reference implementation uses for
//! its compressed transport (plain segments have the number of TCP, 6). Both sources are public; the Blue Book was not
//! available to us.
//!
//! **Checksum.** The last two bytes of the header are the checksum. It covers the pseudo-header with this protocol
//! number and the length on the wire, the compressed header and the data. Like the reference implementation, the reader
//! also accepts a sum with the protocol number of TCP.
//!
//! **IDs.** One byte replaces both ports: the connection ID that the sender offered in its SYN. A decoder learns the
//! IDs from SYNs. If the SYN is missing, the connection of a packet is unknown.

use crate::ip::{self, Captured, IpPacket, pseudo_header, sums_up};
use crate::options::Gathered;
use crate::{Addresses, Checksum, IpFields, PacketError, TcpPacket, decode_captured};
use etherparse::IpNumber;
use etherparse::ip_number::TCP;
use lightlag_tcp::Segment;
use lightlag_tcp::segment::compressed as control;
use lightlag_tcp::segment::{Flags, SeqNumber, Timestamps};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

/// IP protocol number of compressed headers.
pub const PROTOCOL: u8 = 105;

/// Name of the header in error messages.
const NAME: &str = "compressed TCP";

/// Writes the packet of a segment with a compressed header to `out`, which has to be empty.
pub(crate) fn encode(out: &mut Vec<u8>, addresses: &Addresses, ip: &IpFields, segment: &Segment, payload: &[u8]) {
    let (source, destination) = (addresses.source.ip(), addresses.destination.ip());
    let header = segment.compressed_bytes();
    let len = header.len() + payload.len();
    out.reserve(40 + len);
    ip::write(out, source, destination, ip, IpNumber(PROTOCOL), len);
    let start = out.len();
    out.extend_from_slice(&header);
    out.extend_from_slice(payload);
    let sum = pseudo_header(source, destination, IpNumber(PROTOCOL), len).add_slice(&out[start..]).ones_complement();
    let at = start + header.len() - 2;
    out[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
}

/// A parsed compressed header.
struct CompressedHeader {
    len: usize,
    segment: Segment,
    urgent: Option<u16>,
    unknown_options: u8,
    malformed_options: u8,
}

/// Bytes that are read from the front.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// Returns the next `N` bytes. If too few are left, the error is the minimum total length.
    fn take<const N: usize>(&mut self) -> Result<[u8; N], usize> {
        let end = self.at + N;
        let bytes = self.bytes.get(self.at..end).and_then(|bytes| bytes.try_into().ok()).ok_or(end)?;
        self.at = end;
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8, usize> {
        self.take().map(|[byte]| byte)
    }

    fn short(&mut self) -> Result<u16, usize> {
        self.take().map(u16::from_be_bytes)
    }

    fn word(&mut self) -> Result<u32, usize> {
        self.take().map(u32::from_be_bytes)
    }
}

/// Parses the header of a packet, and also returns its last two bytes, the checksum. If the packet is too short, the
/// error is the minimum length.
fn read(bytes: &[u8]) -> Result<(CompressedHeader, [u8; 2]), usize> {
    let mut cursor = Cursor { bytes, at: 0 };
    let id = cursor.byte()?;
    let first = cursor.byte()?;
    let second = if first & control::MORE != 0 { cursor.byte()? } else { 0 };
    let urgent = if second & control::URGENT != 0 { Some(cursor.short()?) } else { None };
    let mut flags = Flags::default();
    for (is_there, flag) in [
        (first & control::PUSH != 0, Flags::PSH),
        (second & control::RESET != 0, Flags::RST),
        (second & control::FINISH != 0, Flags::FIN),
    ] {
        if is_there {
            flags = flags.with(flag);
        }
    }
    let (mut window, mut ack) = (0, SeqNumber::default());
    if first & control::ACKNOWLEDGES != 0 {
        (window, ack) = (cursor.short()?, SeqNumber(cursor.word()?));
        if second & control::NO_ACK != 0 {
            (window, ack) = (0, SeqNumber::default());
        } else {
            flags = flags.with(Flags::ACK);
        }
    }
    let numbered = first & control::SEQUENCE != 0;
    let seq = SeqNumber(if numbered { cursor.word()? } else { 0 });
    let stamps = match first & control::TIME {
        0 => None,
        _ => Some(Timestamps { value: cursor.word()?, echo: cursor.word()? }),
    };
    let options = match second & control::OPTIONS {
        0 => &[],
        _ => {
            let len = usize::from(cursor.byte()?);
            let end = cursor.at + len;
            let options = bytes.get(cursor.at..end).ok_or(end)?;
            cursor.at = end;
            options
        }
    };
    if second & control::PAD != 0 {
        cursor.byte()?;
    }
    // The checksum.
    cursor.short()?;
    let options = Gathered::parse_compressed(options, flags, stamps, first & control::RECORD != 0);
    let segment = options.apply(Segment::new(seq, ack, window, flags)).with_compressed_header(id.max(1), numbered);
    let (unknown_options, malformed_options) = (options.unknown, options.malformed);
    Ok((CompressedHeader { len: cursor.at, segment, urgent, unknown_options, malformed_options }, [id, second]))
}

/// Parses the compressed header in an IP packet.
fn header(ip: &IpPacket) -> Result<CompressedHeader, PacketError> {
    let present = ip.header_len + ip.payload.len();
    let (mut header, [id, second]) = read(ip.payload).map_err(|needed| match needed > ip.len {
        true => PacketError::BadLength { header: NAME, length: ip.len },
        false => PacketError::Truncated { needed: ip.header_len + needed, present },
    })?;
    header.segment.len = u16::try_from(ip.len - header.len).unwrap_or(u16::MAX);
    let occupies = header.segment.sequence_len() > 0 || header.segment.flags.has(Flags::RST);
    if id == 0 || second & control::OPENS != 0 || occupies && !header.segment.is_numbered() || header.len % 2 == 1 {
        return Err(PacketError::BadCompressedHeader);
    }
    Ok(header)
}

fn checksum(ip: &IpPacket) -> Checksum {
    let right = |protocol| sums_up(pseudo_header(ip.source, ip.destination, protocol, ip.len), ip.payload);
    if ip.payload.len() < ip.len {
        Checksum::Unknown
    } else if ip.checksum_is_right && (right(IpNumber(PROTOCOL)) || right(TCP)) {
        Checksum::Valid
    } else {
        Checksum::Invalid
    }
}

/// Source, destination, and the ID that replaces the ports.
type Key = (IpAddr, IpAddr, u8);

/// The known state of one direction of a connection.
#[derive(Clone, Copy, Debug)]
struct DirectionContext {
    /// Ports of the sender and the receiver.
    ports: [u16; 2],
    /// `initial` is the sequence number of the SYN, `next` the one after all data seen.
    initial: SeqNumber,
    next: SeqNumber,
}

/// Parses the packets of a capture in order: plain segments, and segments with compressed headers on connections whose
/// SYN is in the capture.
#[derive(Debug)]
pub struct Decoder {
    known: BTreeMap<Key, DirectionContext>,
    /// Keys in the order in which they were learned.
    order: VecDeque<Key>,
    most: usize,
}

impl Decoder {
    /// Creates a decoder that stores up to `max` IDs. Beyond that, the oldest is dropped.
    pub fn new(max: usize) -> Self {
        Self { known: BTreeMap::new(), order: VecDeque::new(), most: max }
    }

    /// Returns the segment in a captured packet, like [`decode_captured`]. If a compressed header omits the sequence
    /// number, it is assumed to be the number after all data seen from this sender; [`Segment::is_numbered`] returns
    /// whether it was present.
    ///
    /// # Errors
    /// As for [`decode_captured`], and [`PacketError::UnknownConnection`] for an ID that no earlier SYN offered.
    pub fn captured<'a>(&mut self, packet: impl Into<Captured<'a>>) -> Result<TcpPacket<'a>, PacketError> {
        let packet = packet.into();
        match decode_captured(packet) {
            Ok(plain) => {
                self.learn(&plain);
                Ok(plain)
            }
            Err(PacketError::NotTcp(PROTOCOL)) => self.compressed(&ip::parse_captured(packet)?),
            Err(error) => Err(error),
        }
    }

    fn learn(&mut self, plain: &TcpPacket) {
        let TcpPacket { addresses: Addresses { source, destination }, segment, .. } = plain;
        let Some(offer) = segment.capabilities().filter(|offer| offer.connection_id != 0) else { return };
        let key = (source.ip(), destination.ip(), offer.connection_id);
        let next = segment.seq.plus(plain.sequence_len());
        let fresh = DirectionContext { ports: [source.port(), destination.port()], initial: segment.seq, next };
        if let Some(known) = self.known.get_mut(&key) {
            // If it is the same SYN again, the numbers seen since then stay.
            if (known.ports, known.initial) != (fresh.ports, fresh.initial) {
                *known = fresh;
            }
            return;
        }
        self.known.insert(key, fresh);
        self.order.push_back(key);
        if self.order.len() > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    fn compressed<'a>(&mut self, ip: &IpPacket<'a>) -> Result<TcpPacket<'a>, PacketError> {
        let CompressedHeader { len, mut segment, urgent, unknown_options, malformed_options } = header(ip)?;
        let id = segment.connection_id();
        let known = self.known.get_mut(&(ip.source, ip.destination, id)).ok_or(PacketError::UnknownConnection(id))?;
        let end = segment.seq.plus(segment.sequence_len());
        if !segment.is_numbered() {
            segment.seq = known.next;
        } else if (1..1 << 31).contains(&ahead(end, known.next)) && segment.sequence_len() > 0 {
            known.next = end;
        }
        let [from, to] = known.ports;
        Ok(TcpPacket {
            addresses: Addresses {
                source: SocketAddr::new(ip.source, from),
                destination: SocketAddr::new(ip.destination, to),
            },
            ip: ip.fields,
            segment,
            payload_len: (ip.len - len) as u32,
            payload: &ip.payload[len.min(ip.payload.len())..],
            urgent,
            unknown_options,
            malformed_options,
            options_cut: false,
            wire_len: (ip.header_len + ip.len) as u32,
            checksum: checksum(ip),
        })
    }
}

/// Returns the distance from `b` to `a`, if `a` is ahead.
fn ahead(a: SeqNumber, b: SeqNumber) -> u32 {
    a.0.wrapping_sub(b.0)
}

#[cfg(test)]
mod tests;
