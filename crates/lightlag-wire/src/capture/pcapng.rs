//! pcapng blocks (draft-ietf-opsawg-pcapng): sections, interfaces, and packets with options.

use super::input::{Fields, Filled, Input, Order};
use super::{CaptureError, Direction, Interface, InterfaceId, LARGEST_PACKET, LinkType, TruncatedFile};
use lightlag_core::Instant;
use std::io::Read;
use std::ops::Range;

/// Block types (§4). The type of a section header is the same in both byte orders.
pub const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
pub const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
pub const NAMES: u32 = 4;
pub const PACKET: u32 = 6;

/// The byte-order magic of a section, which is written in the section's own byte order (§4.1).
pub const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// Length of a block without its body: type, length, and length again.
const FRAME: u64 = 12;

/// Option codes for all blocks (§3.5), for interfaces (§4.2) and for packets (§4.3).
pub const END: u16 = 0;
pub const COMMENT: u16 = 1;
pub const NAME: u16 = 2;
pub const RESOLUTION: u16 = 9;
const OFFSET: u16 = 14;
pub const FLAGS: u16 = 2;

/// The current section of a file.
#[derive(Debug)]
pub struct Section {
    order: Order,
    /// Number of interfaces that were described in earlier sections.
    first: usize,
    /// The clocks of the section's interfaces.
    clocks: Vec<Clock>,
}

/// The clock of an interface.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Whether a second has 2 to the power of `exponent` units, instead of 10 to that power.
    binary: bool,
    exponent: u32,
    /// Offset in seconds that is added to all times.
    offset: i64,
}

/// A packet whose bytes are in the buffer.
pub struct PcapngRecord {
    pub interface: InterfaceId,
    /// Time of the packet; `None` for a simple packet block.
    pub at: Option<Instant>,
    pub wire_len: u32,
    pub direction: Direction,
    /// Range of the frame in the buffer.
    pub frame: Range<usize>,
    /// Range of the first comment in the buffer.
    pub comment: Option<Range<usize>>,
}

impl Clock {
    /// The default clock, which counts microseconds (§4.2).
    const DEFAULT: Self = Self { binary: false, exponent: 6, offset: 0 };

    /// Returns the time after this many units, limited to the range of 64-bit nanoseconds.
    fn instant(self, units: u64) -> Instant {
        let units = u128::from(units);
        // With more than 10^19 or 2^64 units per second, 64 bits of units hold no second: the exponent is absurd.
        let nanos = match self.binary {
            true => (units * 1_000_000_000) >> self.exponent.min(127),
            false => 10_u128.checked_pow(self.exponent).map_or(0, |second| units * 1_000_000_000 / second),
        };
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX) + 1_000_000_000 * i128::from(self.offset);
        Instant::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
    }
}

/// The kinds of blocks that a reader distinguishes.
enum BlockKind {
    Section,
    Interface,
    Packet,
    OldPacket,
    SimplePacket,
    Other,
}

/// Reads the section header at the start of a file, after its first four bytes.
pub fn open<R: Read>(input: &mut Input<R>, buffer: &mut Vec<u8>, first: usize) -> Result<Section, CaptureError> {
    let ends = CaptureError::NotACapture("the file ends within its header");
    let offset = input.at() - 4;
    let (mut length, mut magic) = ([0; 4], [0; 4]);
    for number in [&mut length, &mut magic] {
        if let Filled::Part(_) = input.fill(number)? {
            return Err(ends);
        }
    }
    section(input, buffer, first, offset, length, magic)?.map_err(|_| ends)
}

fn section<R: Read>(
    input: &mut Input<R>,
    buffer: &mut Vec<u8>,
    first: usize,
    offset: u64,
    length: [u8; 4],
    magic: [u8; 4],
) -> Result<Result<Section, TruncatedFile>, CaptureError> {
    let Some(order) = [Order::Big, Order::Little].into_iter().find(|order| order.u32(magic) == BYTE_ORDER) else {
        return Err(CaptureError::Damaged { at: offset, what: "a pcapng section without its byte-order magic" });
    };
    let body = body_len(order.u32(length), offset)?;
    if !(16..=u64::from(LARGEST_PACKET)).contains(&body) {
        return Err(CaptureError::Damaged { at: offset, what: "a pcapng section header with an invalid length" });
    }
    // The first four bytes of the body, the magic number, have been read.
    if let Err(cut) = input.read(buffer, (body - 4 + 4) as usize, 12)? {
        return Ok(Err(cut));
    }
    if order.u16([buffer[0], buffer[1]]) != 1 {
        return Err(CaptureError::Damaged { at: offset, what: "a pcapng section with a version other than 1" });
    }
    Ok(Ok(Section { order, first, clocks: Vec::new() }))
}

/// Returns the length of the body of a block with this `length` field.
fn body_len(length: u32, offset: u64) -> Result<u64, CaptureError> {
    match u64::from(length).checked_sub(FRAME) {
        Some(body) if length.is_multiple_of(4) => Ok(body),
        _ => Err(CaptureError::Damaged {
            at: offset,
            what: "a block whose length is not a multiple of 4 of at least 12",
        }),
    }
}

impl Section {
    /// Reads blocks up to the next packet, whose block fills `buffer`. New interfaces are added to `interfaces`.
    /// Returns `None` at the end of the file.
    pub fn next<R: Read>(
        &mut self,
        input: &mut Input<R>,
        buffer: &mut Vec<u8>,
        interfaces: &mut Vec<Interface>,
    ) -> Result<Result<Option<PcapngRecord>, TruncatedFile>, CaptureError> {
        loop {
            let offset = input.at();
            let mut start = [0; 8];
            match input.fill(&mut start)? {
                Filled::Part(0) => return Ok(Ok(None)),
                Filled::Part(present) => {
                    return Ok(Err(TruncatedFile { at: offset, needed: FRAME, present: present as u64 }));
                }
                Filled::Whole => {}
            }
            let [a, b, c, d, length @ ..] = start;
            let damaged = |what| CaptureError::Damaged { at: offset, what };
            let read = match self.kind([a, b, c, d]) {
                BlockKind::Section => self.next_section(input, buffer, interfaces.len(), offset, length)?,
                BlockKind::Other => input.skip(body_len(self.order.u32(length), offset)? + 4, 8)?,
                kind => match self.body(input, buffer, offset, length)? {
                    Ok(()) if matches!(kind, BlockKind::Interface) => {
                        let described =
                            self.interface(buffer).ok_or(damaged("an interface description shorter than 8 bytes"))?;
                        interfaces.push(described.0);
                        self.clocks.push(described.1);
                        Ok(())
                    }
                    Ok(()) => {
                        let record = match kind {
                            BlockKind::SimplePacket => self.simple_packet(buffer),
                            BlockKind::OldPacket => self.old_packet(buffer),
                            _ => self.packet(buffer),
                        };
                        return record.map(|record| Ok(Some(record))).map_err(damaged);
                    }
                    cut => cut,
                },
            };
            if let Err(cut) = read {
                return Ok(Err(cut));
            }
        }
    }

    /// Reads a section header after its type and length.
    fn next_section<R: Read>(
        &mut self,
        input: &mut Input<R>,
        buffer: &mut Vec<u8>,
        first: usize,
        offset: u64,
        length: [u8; 4],
    ) -> Result<Result<(), TruncatedFile>, CaptureError> {
        let mut magic = [0; 4];
        if let Filled::Part(present) = input.fill(&mut magic)? {
            return Ok(Err(TruncatedFile { at: offset, needed: 28, present: 8 + present as u64 }));
        }
        Ok(section(input, buffer, first, offset, length, magic)?.map(|section| *self = section))
    }

    /// Fills `buffer` with the body of a block, after its type and length.
    fn body<R: Read>(
        &self,
        input: &mut Input<R>,
        buffer: &mut Vec<u8>,
        offset: u64,
        length: [u8; 4],
    ) -> Result<Result<(), TruncatedFile>, CaptureError> {
        let body = body_len(self.order.u32(length), offset)?;
        // Twice the limit leaves space for comments and other options of a packet.
        if body > u64::from(2 * LARGEST_PACKET) {
            return Err(CaptureError::Damaged { at: offset, what: "a packet larger than 16 MiB" });
        }
        let read = input.read(buffer, (body + 4) as usize, 8)?;
        if read.is_ok() && buffer[body as usize..] != length {
            return Err(CaptureError::Damaged {
                at: offset,
                what: "a block with different lengths at its start and end",
            });
        }
        buffer.truncate(body as usize);
        Ok(read)
    }

    fn kind(&self, bytes: [u8; 4]) -> BlockKind {
        match self.order.u32(bytes) {
            _ if bytes == SECTION => BlockKind::Section,
            INTERFACE => BlockKind::Interface,
            PACKET => BlockKind::Packet,
            OLD_PACKET => BlockKind::OldPacket,
            SIMPLE_PACKET => BlockKind::SimplePacket,
            _ => BlockKind::Other,
        }
    }

    fn interface(&self, body: &[u8]) -> Option<(Interface, Clock)> {
        let mut fields = Fields { order: self.order, bytes: body };
        let link = LinkType(fields.u16()?);
        fields.take(6)?;
        let mut name = String::new();
        let mut clock = Clock::DEFAULT;
        while let Some((code, value)) = option(&mut fields) {
            match (code, value) {
                (NAME, _) => name = String::from_utf8_lossy(value).into_owned(),
                (RESOLUTION, &[exponent]) => {
                    clock.binary = exponent & 0x80 != 0;
                    clock.exponent = u32::from(exponent & 0x7f);
                }
                (OFFSET, _) => {
                    if let Ok(bytes) = value.try_into() {
                        clock.offset = self.order.u64(bytes) as i64;
                    }
                }
                _ => {}
            }
        }
        Some((Interface { name, link }, clock))
    }

    fn packet(&self, body: &[u8]) -> Result<PcapngRecord, &'static str> {
        let mut fields = Fields { order: self.order, bytes: body };
        let mut number = || fields.u32().ok_or("a packet block shorter than 20 bytes");
        let numbers = [number()?, number()?, number()?, number()?, number()?];
        self.record(body, fields, numbers)
    }

    /// Reads a packet block of the obsolete format (§A), whose first number contains a 16-bit count of lost packets.
    fn old_packet(&self, body: &[u8]) -> Result<PcapngRecord, &'static str> {
        let mut fields = Fields { order: self.order, bytes: body };
        let too_short = "a packet block shorter than 20 bytes";
        let interface = u32::from(fields.u16().ok_or(too_short)?);
        fields.u16().ok_or(too_short)?;
        let mut number = || fields.u32().ok_or(too_short);
        let numbers = [interface, number()?, number()?, number()?, number()?];
        self.record(body, fields, numbers)
    }

    /// Reads a simple packet block, which belongs to the first interface and has no time (§4.4). Its length is the
    /// length on the wire.
    fn simple_packet(&self, body: &[u8]) -> Result<PcapngRecord, &'static str> {
        if self.clocks.is_empty() {
            return Err("a packet of an interface without a description");
        }
        let mut fields = Fields { order: self.order, bytes: body };
        let wire_len = fields.u32().ok_or("a simple packet block shorter than 4 bytes")?;
        let captured = fields.bytes.len().min(wire_len as usize);
        Ok(PcapngRecord {
            interface: InterfaceId(self.first as u32),
            at: None,
            wire_len,
            direction: Direction::Unknown,
            frame: 4..4 + captured,
            comment: None,
        })
    }

    fn record(&self, body: &[u8], mut rest: Fields, numbers: [u32; 5]) -> Result<PcapngRecord, &'static str> {
        let [interface, high, low, captured, wire_len] = numbers;
        let clock = self.clocks.get(interface as usize).ok_or("a packet of an interface without a description")?;
        let start = body.len() - rest.bytes.len();
        let frame = rest.take(captured as usize).ok_or("a packet longer than its block")?;
        let end = start + frame.len();
        let mut record = PcapngRecord {
            interface: InterfaceId(self.first as u32 + interface),
            at: Some(clock.instant(u64::from(high) << 32 | u64::from(low))),
            wire_len: wire_len.max(captured),
            direction: Direction::Unknown,
            frame: start..end,
            comment: None,
        };
        let _ = rest.take(padding(frame.len()));
        while let Some((code, value)) = option(&mut rest) {
            if code == COMMENT && record.comment.is_none() {
                let end = body.len() - rest.bytes.len() - padding(value.len());
                record.comment = Some(end - value.len()..end);
            } else if code == FLAGS
                && let Ok(bytes) = value.try_into()
            {
                record.direction = match self.order.u32(bytes) & 0b11 {
                    1 => Direction::Inbound,
                    2 => Direction::Outbound,
                    _ => Direction::Unknown,
                };
            }
        }
        Ok(record)
    }
}

/// Returns the code and the value of the next option; `None` at the end, or if the rest is not a valid option.
fn option<'a>(fields: &mut Fields<'a>) -> Option<(u16, &'a [u8])> {
    let code = fields.u16()?;
    let length = usize::from(fields.u16()?);
    if code == END {
        return None;
    }
    let value = fields.take(length)?;
    fields.take(padding(length))?;
    Some((code, value))
}

/// Returns the number of bytes that pad `len` to a multiple of four.
pub fn padding(len: usize) -> usize {
    len.next_multiple_of(4) - len
}
