//! Compressed headers of SCPS-TP in IP packets. [`lightlag_tcp::segment::compressed`] has their layout.
//!
//! **Protocol number.** 105: "SCPS" in the registry of IANA, and the number that MITRE's reference implementation uses
//! for its compressed transport (plain segments are TCP, 6). Both are public; the Blue Book was not available to us.
//!
//! **Checksum.** It stands in the last two bytes of the header. It covers the pseudo-header with this protocol number
//! and the length on the wire, the compressed header and the data. Like the reference implementation, the reader also
//! accepts a sum with the protocol number of TCP.
//!
//! **Ids.** One byte replaces both ports: the id that the sender offered in its SYN. A decoder learns the ids from the
//! SYNs that it sees. Without the SYN, the connection of a packet is unknown.

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

/// The protocol number of IP for compressed headers.
pub const PROTOCOL: u8 = 105;

/// The name of the header in errors.
const NAME: &str = "compressed TCP";

/// Writes the packet of a segment with a compressed header to `out`, which is empty.
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

/// A compressed header after parsing.
struct Header {
    len: usize,
    segment: Segment,
    urgent: Option<u16>,
    unknown_options: u8,
    malformed_options: u8,
}

/// Bytes read from the front.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    /// The next bytes; `Err` holds the number of bytes needed if too few are left.
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

/// Reads the header of a packet; `Err` holds the number of bytes that it needs at least.
fn read(bytes: &[u8]) -> Result<(Header, [u8; 2]), usize> {
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
    Ok((Header { len: cursor.at, segment, urgent, unknown_options, malformed_options }, [id, second]))
}

/// The header of a packet with this protocol number, if it has one.
fn header(ip: &IpPacket) -> Result<Header, PacketError> {
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

/// Sender and receiver, and the id that replaces their ports.
type Key = (IpAddr, IpAddr, u8);

/// The known state of one direction of a connection.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Ports of the sender and of the receiver.
    ports: [u16; 2],
    /// The sequence number of its SYN, and the one after all data seen.
    initial: SeqNumber,
    next: SeqNumber,
}

/// Reads the packets of a capture one after the other: plain segments, and segments with compressed headers on
/// connections whose SYN was in the capture.
#[derive(Debug)]
pub struct Decoder {
    known: BTreeMap<Key, Known>,
    /// In the order in which they were learned.
    order: VecDeque<Key>,
    most: usize,
}

impl Decoder {
    /// Starts a decoder that keeps at most `most` ids. When that is exceeded, the oldest is dropped.
    pub fn new(most: usize) -> Self {
        Self { known: BTreeMap::new(), order: VecDeque::new(), most }
    }

    /// The segment in a captured packet, as [`decode_captured`]. If a compressed header leaves out the sequence number,
    /// the number after all data seen from its sender is taken; [`Segment::is_numbered`] tells.
    ///
    /// # Errors
    /// As [`decode_captured`]; [`PacketError::UnknownConnection`] for an id that no earlier SYN had.
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
        let fresh = Known { ports: [source.port(), destination.port()], initial: segment.seq, next };
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
        let Header { len, mut segment, urgent, unknown_options, malformed_options } = header(ip)?;
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

/// The distance from `b` to `a`, if `a` is ahead.
fn ahead(a: SeqNumber, b: SeqNumber) -> u32 {
    a.0.wrapping_sub(b.0)
}

#[cfg(test)]
mod tests;
