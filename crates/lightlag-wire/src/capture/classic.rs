//! The older capture format, pcap: one link type, then the packets, each after a header of 16 bytes with its time and
//! lengths (draft-ietf-opsawg-pcap).

use super::input::{Fields, Filled, Input, Order};
use super::{CaptureError, LARGEST_PACKET, LinkType, TruncatedFile};
use lightlag_core::Instant;
use std::io::Read;

/// Length of the header of a packet in bytes.
const RECORD: usize = 16;

/// The contents of the file header.
#[derive(Clone, Copy, Debug)]
pub struct Classic {
    format: Format,
    /// Whether the two lengths of a packet may be exchanged, as before version 2.3.
    exchanged: bool,
    pub link: LinkType,
}

/// The variant of the format, which the first bytes of the file identify.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    order: Order,
    /// Nanoseconds per unit of the fractional part of a time.
    unit: u64,
    /// Length of the file header beyond 24 bytes.
    more_header: usize,
    /// Number of bytes between the header of a packet and its data.
    more_record: usize,
}

/// A packet whose bytes are in the buffer.
pub struct ClassicRecord {
    pub at: Instant,
    pub wire_len: u32,
}

impl Classic {
    /// Returns the variant of a file that starts with `magic`; `None` if it is not pcap.
    pub fn recognise(magic: [u8; 4]) -> Option<Format> {
        [Order::Big, Order::Little].into_iter().find_map(|order| {
            let (unit, more_header, more_record) = match order.u32(magic) {
                0xa1b2_c3d4 => (1_000, 0, 0),
                0xa1b2_3c4d => (1, 0, 0),
                // The form of Kuznetzov adds interface, protocol and kind to each packet.
                0xa1b2_cd34 => (1_000, 0, 8),
                // The forms of IXIA have the size of all packets in the header.
                0x1c00_01ac => (1, 4, 0),
                0x1c00_01ab => (1_000, 4, 0),
                _ => return None,
            };
            Some(Format { order, unit, more_header, more_record })
        })
    }

    /// Reads the rest of the file header, after the first four bytes.
    pub fn open<R: Read>(input: &mut Input<R>, format: Format) -> Result<Self, CaptureError> {
        let order = format.order;
        let mut header = [0; 24];
        let header = &mut header[..20 + format.more_header];
        if let Filled::Part(_) = input.fill(header)? {
            return Err(CaptureError::NotACapture("the file ends within its header"));
        }
        if order.u16([header[0], header[1]]) != 2 {
            return Err(CaptureError::NotACapture("a pcap version other than 2"));
        }
        let minor = order.u16([header[2], header[3]]);
        // The upper half holds the length of the frame check sequence; IP has its own length.
        let link = order.u32([header[16], header[17], header[18], header[19]]);
        Ok(Self { format, exchanged: minor < 3, link: LinkType((link & 0xffff) as u16) })
    }

    /// Reads the next packet into `buffer`. Returns `None` at the end of the file.
    pub fn next<R: Read>(
        &self,
        input: &mut Input<R>,
        buffer: &mut Vec<u8>,
    ) -> Result<Result<Option<ClassicRecord>, TruncatedFile>, CaptureError> {
        let mut record = [0; RECORD];
        let offset = input.at();
        match input.fill(&mut record)? {
            Filled::Part(0) => return Ok(Ok(None)),
            Filled::Part(present) => {
                return Ok(Err(TruncatedFile { at: offset, needed: RECORD as u64, present: present as u64 }));
            }
            Filled::Whole => {}
        }
        let mut fields = Fields { order: self.format.order, bytes: &record };
        let mut number = || fields.u32().expect("a record header has four fields");
        let (seconds, fraction, captured, wire_len) = (number(), number(), number(), number());
        let (captured, wire_len) = if self.exchanged { (wire_len, captured) } else { (captured, wire_len) };
        if captured > LARGEST_PACKET {
            return Err(CaptureError::Damaged { at: offset, what: "a packet larger than 16 MiB" });
        }
        let more = self.format.more_record;
        if let Err(cut) = input.read(buffer, more + captured as usize, RECORD as u64)? {
            return Ok(Err(cut));
        }
        buffer.drain(..more);
        let nanos = 1_000_000_000 * u64::from(seconds) + self.format.unit * u64::from(fraction);
        Ok(Ok(Some(ClassicRecord { at: Instant::from_nanos(nanos), wire_len: wire_len.max(captured) })))
    }
}
