//! The older capture format, pcap: one link type, then packets, each after 16 bytes of times and lengths
//! (draft-ietf-opsawg-pcap).

use super::input::{Fields, Filled, Input, Order};
use super::{CaptureError, Cut, LARGEST_PACKET, LinkType};
use lightlag_core::Instant;
use std::io::Read;

/// Bytes in front of a packet.
const RECORD: usize = 16;

/// The contents of the file header.
#[derive(Clone, Copy, Debug)]
pub struct Classic {
    order: Order,
    /// Nanoseconds in one unit of a fraction of a second.
    unit: u64,
    pub link: LinkType,
}

/// A packet, whose bytes are in the buffer.
pub struct Record {
    pub at: Instant,
    pub wire_len: u32,
}

impl Classic {
    /// The byte order and the time unit of a file that starts with `magic`.
    pub fn recognise(magic: [u8; 4]) -> Option<(Order, u64)> {
        [Order::Big, Order::Little].into_iter().find_map(|order| match order.u32(magic) {
            0xa1b2_c3d4 => Some((order, 1_000)),
            0xa1b2_3c4d => Some((order, 1)),
            _ => None,
        })
    }

    /// Reads the 20 bytes after the first four.
    pub fn open<R: Read>(input: &mut Input<R>, (order, unit): (Order, u64)) -> Result<Self, CaptureError> {
        let mut header = [0; 20];
        if let Filled::Part(_) = input.fill(&mut header)? {
            return Err(CaptureError::NotACapture("the file ends within its header"));
        }
        let major = order.u16([header[0], header[1]]);
        if major != 2 {
            return Err(CaptureError::NotACapture("pcap of a version that is not 2"));
        }
        // The upper half holds the length of the frame check sequence; IP knows its own length.
        let link = order.u32([header[16], header[17], header[18], header[19]]);
        Ok(Self { order, unit, link: LinkType((link & 0xffff) as u16) })
    }

    /// Reads the next packet into `buffer`. `None` at the end of the file.
    pub fn next<R: Read>(
        &self,
        input: &mut Input<R>,
        buffer: &mut Vec<u8>,
    ) -> Result<Result<Option<Record>, Cut>, CaptureError> {
        let mut record = [0; RECORD];
        let at = input.at();
        match input.fill(&mut record)? {
            Filled::Part(0) => return Ok(Ok(None)),
            Filled::Part(present) => {
                return Ok(Err(Cut { at, needed: RECORD as u64, present: present as u64 }));
            }
            Filled::Whole => {}
        }
        let mut fields = Fields { order: self.order, bytes: &record };
        let mut number = || fields.u32().expect("a record has four numbers");
        let (seconds, fraction, captured, wire_len) = (number(), number(), number(), number());
        if captured > LARGEST_PACKET {
            return Err(CaptureError::Damaged { at, what: "a packet of more than 16 MiB" });
        }
        if let Err(cut) = input.read(buffer, captured as usize, RECORD as u64)? {
            return Ok(Err(cut));
        }
        let nanos = 1_000_000_000 * u64::from(seconds) + self.unit * u64::from(fraction);
        Ok(Ok(Some(Record { at: Instant::from_nanos(nanos), wire_len: wire_len.max(captured) })))
    }
}
