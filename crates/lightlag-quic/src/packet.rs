//! A UDP datagram of a QUIC connection as a value of 48 bytes.
//!
//! The common packets are stored in the value itself: a 1-RTT packet with up to one STREAM frame and an ACK of up to
//! three ranges. Anything else (more ranges, control frames, PADDING, handshake packets, coalesced packets) is stored
//! in an [`Arena`](crate::Arena), and the value holds a handle. The last byte has unused values, so that an enum of
//! this and smaller types has the same size.

use crate::contents::{Contents, Part};
use crate::frame::{AckHeader, EcnCounts, Frame};
use crate::handle::Handle;
use crate::kind::Kind;
use crate::ranges::Range;
use crate::streams::Chunk;
use lightlag_core::Codepoint;

const ACK: u8 = 0x01;
const STREAM: u8 = 0x02;
const FIN: u8 = 0x04;
const TO_END: u8 = 0x08;
const ECN_COUNTS: u8 = 0x10;
const PING: u8 = 0x20;
const SPIN: u8 = 0x40;
const KEY_PHASE: u8 = 0x80;

/// Bits of [`Packet::count`]: the number of ACK ranges, and the path.
const RANGES: u8 = 0x03;
const PATH_SHIFT: u8 = 2;

/// Bits of a path's number that hold the port; the others hold the address. Both wrap.
pub(crate) const PORT_BITS: u8 = 3;
/// Largest index of a port.
pub(crate) const PORTS: u8 = (1 << PORT_BITS) - 1;

/// Bytes of an acknowledgement delay that the value holds, in units of 2^exponent µs.
const DELAY_BYTES: usize = 3;

/// A UDP datagram with one or more QUIC packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Packet {
    handle: Handle,
    number: u32,
    largest: u32,
    first: u32,
    offset_low: u32,
    offset_high: u16,
    stream: u16,
    len: u16,
    size: u16,
    /// Gap and length of the second and the third ACK range, as in the frame.
    ranges: [(u16, u16); 2],
    /// ECN counts modulo 2¹⁶: ECT(0), ECT(1), CE.
    ecn: [u16; 3],
    delay: [u8; DELAY_BYTES],
    flags: u8,
    /// Number of ACK ranges in the low bits, and the path above.
    count: u8,
    codepoint: Codepoint,
}

const _: () = assert!(size_of::<Packet>() == 48 && align_of::<Packet>() == 4 && size_of::<Option<Packet>>() == 48);

impl Packet {
    /// Returns the UDP payload in bytes.
    #[inline(always)]
    pub fn size(&self) -> u32 {
        self.size.into()
    }

    /// Returns the ECN field that the packet is to be sent with.
    #[inline(always)]
    pub fn codepoint(&self) -> Codepoint {
        self.codepoint
    }

    /// Sets the ECN field.
    pub(crate) fn set_codepoint(&mut self, codepoint: Codepoint) {
        self.codepoint = codepoint;
    }

    /// Returns the handle of contents in an arena; `None` if the value holds everything.
    #[inline(always)]
    pub fn handle(&self) -> Option<Handle> {
        self.handle.exists().then_some(self.handle)
    }

    /// Creates a packet whose contents are stored in an arena. The value keeps the number of the last QUIC packet, the
    /// largest acknowledged number and the number of payload bytes.
    pub(crate) fn of_handle(handle: Handle, contents: &Contents) -> Self {
        let last = contents.parts.last().copied().unwrap_or_default();
        let payload = contents.frames.iter().map(Frame::payload_len).sum::<u64>();
        Self {
            handle,
            size: contents.size() as u16,
            number: last.number as u32,
            largest: contents.ranges.first().map_or(0, |range| range.end as u32 - 1),
            len: payload as u16,
            flags: if payload > 0 { STREAM } else { 0 },
            ..Self::default()
        }
    }

    /// Returns the contents that the value holds itself; `None` if they are stored in an arena.
    pub fn contents(&self) -> Option<Contents> {
        if self.handle.exists() {
            return None;
        }
        let mut contents = Contents::default();
        self.unpack(&mut contents, EcnCounts::default());
        Some(contents)
    }

    /// Returns the slot of an arena that stores the contents, if one does.
    pub fn slot(&self) -> Option<u32> {
        self.handle.exists().then(|| self.handle.index())
    }

    /// Returns true if the packet carries data of streams, datagrams or the handshake.
    #[inline(always)]
    pub fn carries_data(&self) -> bool {
        self.flags & STREAM != 0
    }

    /// Returns the packet number (of the last QUIC packet), the largest acknowledged number (0 for none) and the number
    /// of payload bytes, for a user who follows single packets.
    pub fn numbers(&self) -> [u32; 3] {
        [self.number, self.largest, self.len.into()]
    }

    /// Returns numbers that identify the packet, in nearly all cases, among the packets of its connection on a link.
    pub fn look(&self) -> [u64; 3] {
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        [pair(self.number, self.largest), pair(self.handle.index(), self.offset_low), self.size.into()]
    }

    /// Returns the packet with the handle of `stored`.
    pub(crate) fn with_handle_of(mut self, stored: &Self) -> Self {
        self.handle = stored.handle;
        self
    }

    /// Creates a 1-RTT packet without frames on a path.
    #[inline(always)]
    pub(crate) fn short(number: u32, spin: bool, path: u8) -> Self {
        Self { number, flags: if spin { SPIN } else { 0 }, count: path << PATH_SHIFT, ..Self::default() }
    }

    /// Returns the path that the packet was sent on, 0 to 63, for a receiver that follows its peer.
    #[inline(always)]
    pub fn path(&self) -> u8 {
        self.count >> PATH_SHIFT
    }

    /// Returns the indices of the client's address and port, 0 to 7, on the path of the packet.
    pub fn client_address(&self) -> (u8, u8) {
        (self.path() >> PORT_BITS, self.path() & PORTS)
    }

    /// Sets the path.
    #[inline(always)]
    pub(crate) fn set_path(&mut self, path: u8) {
        self.count = self.count & RANGES | path << PATH_SHIFT;
    }

    /// Sets the UDP payload in bytes.
    #[inline(always)]
    pub(crate) fn set_size(&mut self, size: u16) {
        self.size = size;
    }

    /// Adds a chunk of a stream, whose ID has at most 16 bits and whose offset has at most 48.
    #[inline(always)]
    pub(crate) fn hold_stream(&mut self, chunk: &Chunk) {
        self.stream = chunk.stream as u16;
        (self.offset_low, self.offset_high) = (chunk.offset as u32, (chunk.offset >> 32) as u16);
        self.len = chunk.len;
        self.flags |= STREAM | if chunk.fin { FIN } else { 0 } | if chunk.to_end { TO_END } else { 0 };
    }

    /// Returns the packet number, if the value holds the contents itself.
    #[inline(always)]
    pub(crate) fn number(&self) -> u64 {
        self.number.into()
    }

    #[inline(always)]
    pub(crate) fn spin(&self) -> bool {
        self.flags & SPIN != 0
    }

    #[inline(always)]
    pub(crate) fn has_ack(&self) -> bool {
        self.flags & ACK != 0
    }

    /// Returns true if the packet holds a frame that elicits an acknowledgement.
    #[inline(always)]
    pub(crate) fn is_eliciting(&self) -> bool {
        self.flags & (STREAM | PING) != 0
    }

    /// Returns the stream data.
    #[inline(always)]
    pub(crate) fn chunk(&self) -> Option<Chunk> {
        (self.flags & STREAM != 0).then(|| Chunk {
            stream: self.stream.into(),
            offset: u64::from(self.offset_high) << 32 | u64::from(self.offset_low),
            len: self.len,
            fin: self.flags & FIN != 0,
            to_end: self.flags & TO_END != 0,
        })
    }

    /// Writes the ranges of the ACK frame to `ranges`, in descending order. Returns the other fields and the number of
    /// ranges. `counts` are the ECN counts that the receiver already has, to complete the counts of the packet.
    #[inline]
    pub(crate) fn ack(&self, counts: EcnCounts, ranges: &mut [Range; 3]) -> (AckHeader, usize) {
        let count = usize::from(self.count & RANGES);
        let mut above = u64::from(self.largest - self.first);
        ranges[0] = Range { start: above, end: u64::from(self.largest) + 1 };
        for (range, (gap, len)) in ranges[1..count.max(1)].iter_mut().zip(&self.ranges) {
            let end = above - u64::from(*gap) - 1;
            above = end - u64::from(*len) - 1;
            *range = Range { start: above, end };
        }
        let complete = |known: u64, low: u16| known + u64::from(low.wrapping_sub(known as u16));
        let ecn = (self.flags & ECN_COUNTS != 0).then(|| EcnCounts {
            ect0: complete(counts.ect0, self.ecn[0]),
            ect1: complete(counts.ect1, self.ecn[1]),
            ce: complete(counts.ce, self.ecn[2]),
        });
        let [low, middle, high] = self.delay;
        (AckHeader { delay: u32::from_le_bytes([low, middle, high, 0]).into(), ecn }, count)
    }

    /// Creates a packet that holds `contents` itself; `None` if they do not fit.
    #[inline]
    pub(crate) fn inline(contents: &Contents) -> Option<Self> {
        let [part] = &contents.parts[..] else { return None };
        if part.kind != Kind::OneRtt || part.number > u64::from(u32::MAX) || contents.frames.len() > 3 {
            return None;
        }
        let mut packet = Self { number: part.number as u32, size: part.size, ..Self::default() };
        packet.flags = if part.spin { SPIN } else { 0 } | if part.key_phase { KEY_PHASE } else { 0 };
        if let Some(ack) = &part.ack {
            packet.hold_ack(ack, &contents.ranges)?;
        }
        for frame in &contents.frames {
            match *frame {
                Frame::Stream { stream, offset, len, fin, to_end } if packet.flags & STREAM == 0 => {
                    let chunk = Chunk { stream, offset, len, fin, to_end };
                    if !chunk.is_short() {
                        return None;
                    }
                    packet.hold_stream(&chunk);
                }
                Frame::Ping if packet.flags & PING == 0 => packet.flags |= PING,
                _ => return None,
            }
        }
        Some(packet)
    }

    /// Adds an ACK frame; `None` if it does not fit.
    #[inline]
    pub(crate) fn hold_ack(&mut self, ack: &AckHeader, ranges: &[Range]) -> Option<()> {
        let (first, rest) = ranges.split_first()?;
        if rest.len() > 2 {
            return None;
        }
        self.flags |= ACK;
        self.count = self.count & !RANGES | ranges.len() as u8;
        self.largest = u32::try_from(first.end - 1).ok()?;
        self.first = first.len() as u32 - 1;
        if ack.delay >> (8 * DELAY_BYTES) != 0 {
            return None;
        }
        self.delay.copy_from_slice(&ack.delay.to_le_bytes()[..DELAY_BYTES]);
        let mut above = first.start;
        for (slot, range) in self.ranges.iter_mut().zip(rest) {
            *slot = (u16::try_from(above - range.end - 1).ok()?, u16::try_from(range.len() - 1).ok()?);
            above = range.start;
        }
        if let Some(counts) = ack.ecn {
            self.flags |= ECN_COUNTS;
            self.ecn = [counts.ect0 as u16, counts.ect1 as u16, counts.ce as u16];
        }
        Some(())
    }

    /// Writes the contents that the value holds itself to `contents`, which is cleared first. `counts` are the ECN
    /// counts that the receiver already has, to complete the counts of the packet.
    #[inline]
    pub(crate) fn unpack(&self, contents: &mut Contents, counts: EcnCounts) {
        contents.clear();
        let mut part = Part {
            kind: Kind::OneRtt,
            number: self.number.into(),
            size: self.size,
            spin: self.flags & SPIN != 0,
            key_phase: self.flags & KEY_PHASE != 0,
            ..Part::default()
        };
        if self.has_ack() {
            let mut ranges = [Range::default(); 3];
            let (header, count) = self.ack(counts, &mut ranges);
            contents.ranges.extend(&ranges[..count]);
            (part.ack, part.ranges) = (Some(header), count as u16);
        }
        if self.flags & PING != 0 {
            contents.frames.push(Frame::Ping);
        }
        if let Some(Chunk { stream, offset, len, fin, to_end }) = self.chunk() {
            contents.frames.push(Frame::Stream { stream, offset, len, fin, to_end });
        }
        part.frames = contents.frames.len() as u16;
        contents.parts.push(part);
    }
}
